"""A model folder's answers on labelled rows, measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ernie_pp.config import RunConfig
from ernie_pp.data.faults import Faults
from ernie_pp.data.labels import LabelSet
from ernie_pp.jobs.device import set_device
from ernie_pp.jobs.splits import keep_short_enough, read_examples, tokenise
from ernie_pp.models.ernie import load_classifier
from ernie_pp.tasks import load_codec, load_task
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.training.build import build_forward
from ernie_pp.training.checkpoint import read_settings
from ernie_pp.training.logits import compute_logits


def evaluate_model(config: RunConfig, model: Path, *, data: str, labels: LabelSet, cache: Path) -> Any:
    """Figures of a model folder on the rows of `data`, which are read as `config` says.

    The device is where we are now: a model trained in bf16 on a GPU is measured in fp32 on a CPU.
    """
    device = set_device(config.device)
    settings = read_settings(model)
    task = load_task(config.task)(config, labels)
    tokenizer = Tokenizer.from_folder(model)
    faults = Faults(on_error=config.data.on_error)
    examples = read_examples(config, task, "test", data, faults)
    examples = keep_short_enough(config, task, tokenizer, examples, faults)
    split = tokenise(config, task, tokenizer, name="data", source=data, examples=examples, cache=cache)
    train = config.train.model_copy(update={"precision": "fp32"}) if device == "cpu" else config.train
    logits = compute_logits(
        build_forward(load_classifier(model), config=train),
        split.rows,
        max_tokens=config.train.micro_batch_tokens,
        pad_id=tokenizer.pad_id,
        title="evaluating",
    )
    decoding = load_codec(config.task).decode.DecodeSettings.from_json(settings["decode"])
    return task.measure(logits, split.rows.targets, decoding)
