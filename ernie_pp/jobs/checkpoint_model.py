"""A checkpoint of a run as a model folder, so that it is exported like best/."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ernie_pp.bounded import read_json
from ernie_pp.config import RunConfig
from ernie_pp.errors import RunError
from ernie_pp.jobs.dev_figure import read_run_rows
from ernie_pp.jobs.trained import open_trained
from ernie_pp.models.ernie import load_stack
from ernie_pp.models.sizes import CONFIG
from ernie_pp.training.answers import Pass, compute_answers
from ernie_pp.training.build import build_forward
from ernie_pp.training.checkpoint.folders import list_steps
from ernie_pp.training.checkpoint.saved import open_checkpoint
from ernie_pp.training.model_folder import SETTINGS, save_model_folder
from ernie_pp.training.run_folder import RunFolder

_KEPT_FROM_BEST = ("model.safetensors", CONFIG, SETTINGS)


def write_checkpoint_model(config: RunConfig, run: RunFolder, step: int, folder: Path) -> None:
    """Write `folder`: the weights of step `step`, with the decision rule that the dev split gives them.

    Vocabulary and stored rows are those of best/, which has the same layers. RunError where there is no such step,
    or its files are not whole.
    """
    checkpoint = open_checkpoint(_find(run, step))
    trained = open_trained(run.best)
    stack = load_stack(run.best, trained.head)
    stack.load_state(checkpoint.read_weights({name: array.shape for name, array in stack.state().items()}))
    rows = read_run_rows(config, trained, cache=run.cache)
    task, dev, pad_id = rows.prepared.task, rows.prepared.splits["dev"], rows.prepared.tokenizer.pad_id
    forward = build_forward(stack, config=config.train.model_copy(update={"precision": "fp32"}))
    how = Pass(config.train.micro_batch_tokens, pad_id, f"measuring step {step}", task.condense)
    answers = compute_answers(forward, dev.rows, how)
    decoding = task.settle_decoding(answers, dev)
    figures = task.measure(answers, dev, decoding).to_json()
    _write(run.best, folder, stack.state(), {"decode": decoding.to_json(), "step": step, "dev": figures})


def _find(run: RunFolder, step: int) -> Path:
    steps = dict(list_steps(run.checkpoints))
    if step not in steps:
        there = ", ".join(map(str, sorted(steps))) or "none"
        raise RunError(str(run.checkpoints), f"has no checkpoint of step {step}", f"There are: {there}.")
    return steps[step]


def _write(best: Path, folder: Path, weights: Mapping[str, np.ndarray], changed: Mapping[str, object]) -> None:
    def copy_rest(target: Path) -> None:
        for path in best.iterdir():
            if path.name not in _KEPT_FROM_BEST:
                shutil.copy2(path, target / path.name)

    settings = open_trained(best).settings
    config = read_json(best / CONFIG, max_bytes=100_000_000, error=RunError, do="Copy the folder again, whole.")
    assert isinstance(config, dict), "checked when the folder was opened"
    save_model_folder(folder, weights=weights, config=config, settings={**settings, **changed}, save_extras=copy_rest)
