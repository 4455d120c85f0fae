"""Self-written rows, a vocabulary of them and a config: the smallest run there can be."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import yaml

from ernie_pp.jobs.train import run_training
from ernie_pp.text.new_vocabulary import build_vocabulary
from ernie_pp.text.vocabulary import write_vocab

REPOSITORY = Path(__file__).resolve().parents[1]
_SUBJECTS = ("房间", "早餐", "服务员", "快递", "屏幕", "电池", "包装", "客服")
_GOOD = ("很干净，下次还来", "非常好！值得推荐", "超出预期，点赞👍", "不错，Wi-Fi也快")
_BAD = ("太差了，不会再来", "很失望……退货了", "又慢又脏，差评", "坏了，找不到人")


def review_rows() -> list[dict[str, object]]:
    """64 short reviews, half of them bad, with fields of the user's own."""
    rows: list[dict[str, object]] = []
    for number, (subject, (good, bad)) in enumerate(itertools.product(_SUBJECTS, zip(_GOOD, _BAD, strict=True))):
        for label, words in ((1, good), (0, bad)):
            text = f"{subject}{words}" + "，真的" * (number % 5)
            rows.append({"id": len(rows), "text": text, "label": label, "来源": {"渠道": subject}})
    return rows


def write_jsonl(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def read_jsonl(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def write_config(folder: Path, changes: Mapping[str, Mapping[str, object]] | None = None, **top: object) -> Path:
    """A config beside its data in `folder`; `changes` names sections, other keywords top-level keys."""
    sections: dict[str, dict[str, object]] = {
        "data": {"train": "train.jsonl", "dev": "dev.jsonl"},
        "text": {"max_length": 32},
        "model": {
            "sizes": {"vocab": "vocab.txt", "num_layers": 2, "hidden_size": 32, "num_heads": 2, "max_positions": 64}
        },
        "train": {"epochs": 6, "batch_size": 8, "learning_rate": 5e-3, "log_every": 2},
        "cpu": {"threads": 1},
    }
    for section, values in (changes or {}).items():
        sections[section] = {**sections.get(section, {}), **values}
    values = {"task": "cls", "output_dir": str(folder / "run"), **top, **sections}
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(values, allow_unicode=True), encoding="utf-8")
    return path


def write_vocabulary(path: Path, texts: Sequence[str]) -> Path:
    write_vocab(build_vocabulary(texts, min_count=1, table="none"), path)
    return path


def write_sample(folder: Path) -> Path:
    """Rows, vocabulary and config of the reviews; returns the config's path."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = review_rows()
    write_jsonl(folder / "train.jsonl", rows[:48])
    write_jsonl(folder / "dev.jsonl", rows[48:])
    write_vocabulary(folder / "vocab.txt", [str(row["text"]) for row in rows])
    return write_config(folder)


def environment(**extra: str) -> dict[str, str]:
    """Ours, one thread a process: the tests may share two cores with others."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1", **extra}


def command(*words: str, module: str = "ernie_pp.cli") -> list[str]:
    return [sys.executable, "-m", module, *words]


def run(*words: str, module: str = "ernie_pp.cli", given: bytes = b"", **extra: str) -> subprocess.CompletedProcess:
    """Run our command line in a process of its own; output as bytes-exact text."""
    done = subprocess.run(
        command(*words, module=module), input=given, capture_output=True, env=environment(**extra), timeout=120
    )
    done.stdout, done.stderr = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    return done


def train(config: Path, *words: str, **extra: str) -> subprocess.CompletedProcess:
    return run("--config", str(config), *words, module="ernie_pp.tasks.cls", **extra)


def train_here(config: Path, *words: str) -> str:
    """The same run inside this process, which saves the seconds Paddle takes to load."""
    return run_training(str(config), words)


def stop_when(process: subprocess.Popen, ready: Callable[[], bool], number: signal.Signals) -> float:
    """Send a signal as soon as `ready` says so; seconds until the process was gone."""
    deadline = time.monotonic() + 60
    while not ready():
        assert process.poll() is None, f"ended by itself: {process.stderr.read() if process.stderr else ''}"
        assert time.monotonic() < deadline, "never got ready"
        time.sleep(0.002)
    process.send_signal(number)
    start = time.monotonic()
    process.wait(timeout=30)
    return time.monotonic() - start
