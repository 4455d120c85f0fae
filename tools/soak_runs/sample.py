"""A small training job on made-up reviews: rows, vocabulary and the command that trains on them."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from ernie_pp.text.new_vocabulary import build_vocabulary
from ernie_pp.text.vocabulary import write_vocab

_THINGS = ("酒店", "餐厅", "手机", "耳机", "外套", "航班", "课程", "电影")
_WORDS = {"1": ("很满意", "值得再来", "比想象的好", "推荐给朋友"), "0": ("很失望", "再也不来", "不如图片", "浪费钱")}
_NUM_STEPS = 200


@dataclass(frozen=True)
class Job:
    """What is trained, in which grid, and how often it is saved."""

    folder: Path  # of rows, vocabulary and config
    stages: int
    replicas: int
    save_every: int

    def command(self, output: Path) -> list[str]:
        """What starts the run, or goes on with it."""
        config = self.folder / "config.yaml"
        return [sys.executable, "-m", "ernie_pp.tasks.cls", "--config", str(config), f"output_dir={output}"]


def write_job(job: Job) -> Job:
    """Make the files of the job; dropout is on, so that a random number drawn twice would show."""
    job.folder.mkdir(parents=True)
    rows = _rows()
    _write_rows(job.folder / "train.jsonl", rows[:-16])
    _write_rows(job.folder / "dev.jsonl", rows[-16:])
    tokens = build_vocabulary([row["text"] for row in rows], min_count=1, table="none")
    write_vocab(tokens, job.folder / "vocab.txt")
    (job.folder / "config.yaml").write_text(yaml.safe_dump(_config(job), allow_unicode=True), encoding="utf-8")
    return job


def _rows() -> list[dict[str, str]]:
    rows = []
    for number, (thing, (label, words)) in enumerate(itertools.product(_THINGS, _WORDS.items())):
        rows += [{"text": f"{thing}{word}{'，真的' * ((number + index) % 4)}", "label": label}
                 for index, word in enumerate(words)]  # fmt: skip
    return rows


def _write_rows(path: Path, rows: Sequence[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _config(job: Job) -> dict[str, object]:
    sizes = {"vocab": "vocab.txt", "num_layers": 2, "hidden_size": 32, "num_heads": 2, "max_positions": 64}
    return {
        "task": "cls",
        "output_dir": "unused",
        "data": {"train": "train.jsonl", "dev": "dev.jsonl"},
        "text": {"max_length": 32},
        "model": {"sizes": sizes, "dropout": 0.1},
        "train": {"epochs": 1000, "max_steps": _NUM_STEPS, "batch_size": 8, "eval_every": 20, "log_every": 1},
        "parallel": {"stages": job.stages, "replicas": job.replicas},
        "checkpoint": {"every": job.save_every},
        "cpu": {"threads": 1},
        "export": {"enabled": False},
    }
