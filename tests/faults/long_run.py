"""The run that the tests stop, kill and start again, and what it gets when nobody does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import sample_run
from grid_run import GridRun

WORDS = ("parallel.stages=2", "train.log_every=1", "train.eval_every=10", "train.epochs=100", "cls.baseline=false",
         "export.check_rows=4", "model.dropout=0.1")  # fmt: skip
# What a line of log.jsonl says of the training, and not of the time it took.
FIGURES = ("kind", "step", "epoch", "loss", "grad_norm", "learning_rate", "num_skipped", "accuracy", "macro_f1")
_SAVED = re.compile(r"step (\d+): checkpoint saved")


def start(config: Path, *words: str, path: str = "") -> GridRun:
    """The command a user types, once more."""
    return GridRun(config, *WORDS, *words, path=path)


def finish(run: GridRun) -> str:
    """Standard error of a run that ends well."""
    errors, _ = run.end()
    assert run.process.returncode == 0, errors
    return errors


def figures(folder: Path) -> list[dict]:
    """The lines of log.jsonl, without times and memory."""
    return [{name: line.get(name) for name in FIGURES} for line in sample_run.read_jsonl(folder / "log.jsonl")]


def last_step(folder: Path) -> int:
    """The last step in log.jsonl; half a line that a killed process left is none."""
    try:
        lines = (folder / "log.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    except FileNotFoundError:
        return 0
    return max((json.loads(line)["step"] for line in lines), default=0)


def last_acknowledged(folder: Path) -> int:
    """The last step of which run.log says that its checkpoint is saved."""
    log = folder / "run.log"
    text = log.read_text(encoding="utf-8") if log.is_file() else ""
    return max((int(step) for step in _SAVED.findall(text)), default=0)


def results(folder: Path) -> dict[str, object]:
    """What must not depend on what happened on the way."""
    files = {name: (folder / name).read_bytes() for name in ("best/model.safetensors", "metrics.json")}
    lines = sample_run.read_jsonl(folder / "predictions.jsonl")
    # The folder of the rows is each test's own.
    return {**files, "predictions": [{**line, "file": Path(line["file"]).name} for line in lines]}
