"""A model folder's answers on labelled rows, measured: the part of `evaluate` that comes after Paddle was started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ernie_pp.config import RunConfig
from ernie_pp.data.faults import Faults
from ernie_pp.jobs.device import set_device
from ernie_pp.jobs.splits import SplitReader
from ernie_pp.jobs.trained import open_trained
from ernie_pp.models.ernie import load_stack
from ernie_pp.tasks import load_task
from ernie_pp.tasks.interface import Evaluation
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.training.answers import Pass, compute_answers
from ernie_pp.training.build import build_forward


@dataclass(frozen=True)
class Measured:
    """Figures, and the task's own lines about them."""

    evaluation: Evaluation
    details: list[str]


def evaluate_model(config: RunConfig, model: Path, *, data: str, dataset_split: str, cache: Path) -> Measured:
    """Figures of a model folder on the rows of `data`, which are read as `config` says.

    The device is where we are now: a model trained in bf16 on a GPU is measured in fp32 on a CPU.
    """
    device = set_device(config.device)
    trained = open_trained(model)
    task = load_task(config.task).restore(config, trained.settings)
    tokenizer = Tokenizer.from_folder(model)
    reader = SplitReader(config, task, tokenizer, Faults(on_error=config.data.on_error), cache)
    split = reader.tokenize("data", data, reader.read_examples(data, dataset_split=dataset_split))
    train = config.train.model_copy(update={"precision": "fp32"}) if device == "cpu" else config.train
    forward = build_forward(load_stack(model, trained.head), config=train)
    how = Pass(config.train.micro_batch_tokens, tokenizer.pad_id, "evaluating", task.condense)
    evaluation = task.measure(compute_answers(forward, split.rows, how), split, trained.decoding)
    return Measured(evaluation, task.summarize(evaluation))
