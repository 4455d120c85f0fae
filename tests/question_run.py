"""Self-written documents with questions, and a config: the smallest run of question answering there can be."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Mapping
from pathlib import Path

import sample_run

_FIRMS = ("青禾", "北麓", "云帆", "石桥", "临江", "海棠", "长风", "白鹭")
_FIELDS = ("电话", "地址", "编号", "金额")
_FILLERS = ("以上内容由双方确认。", "本条没有其他约定。", "其余事项另行商定。", "请妥善保存本文件。")

_SIZES = {"vocab": "vocab.txt", "num_layers": 2, "hidden_size": 128, "num_heads": 2, "max_positions": 64}
# Learns 32 questions by heart within seconds.
_SECTIONS: dict[str, dict[str, object]] = {
    "text": {"max_length": 64, "overlap": 12},
    "model": {"dropout": 0.0, "sizes": _SIZES},
    "train": {"epochs": 60, "batch_size": 8, "learning_rate": 1e-3, "adam_beta2": 0.98, "eval_every": 1000},
}


def document(rng: random.Random, number: int, *, num_questions: int) -> dict[str, object]:
    """A text of several windows; the last question is about a firm that it does not name."""
    firms = rng.sample(_FIRMS, 3)
    text, known = "", {}
    for firm in firms[:2]:
        for name in rng.sample(_FIELDS, 2):
            value = f"{rng.randrange(10**4):04d}"
            text += f"{firm}公司的{name}是{value}，" + rng.choice(_FILLERS)
            known[firm, name] = (value, text.index(f"{firm}公司的{name}是{value}") + len(f"{firm}公司的{name}是"))
    questions = [_question(f"{number}-{index}", *one) for index, one in enumerate(known.items())][: num_questions - 1]
    absent = {"id": f"{number}-none", "question": f"{firms[2]}公司的电话是多少？", "answers": []}
    return {"id": f"doc-{number}", "context": text, "qas": [*questions, {**absent, "is_impossible": True}]}


def _question(name: str, asked: tuple[str, str], answer: tuple[str, int]) -> dict[str, object]:
    answers = [{"text": answer[0], "answer_start": answer[1]}]
    return {"id": name, "question": f"{asked[0]}公司的{asked[1]}是多少？", "answers": answers, "is_impossible": False}


def documents(count: int, *, seed: int, num_questions: int = 4) -> list[dict[str, object]]:
    """So many documents with so many questions each."""
    rng = random.Random(seed)
    return [document(rng, seed * 1000 + number, num_questions=num_questions) for number in range(count)]


def write_questions(
    folder: Path,
    *,
    train: list[dict[str, object]],
    dev: list[dict[str, object]],
    changes: Mapping[str, Mapping[str, object]] | None = None,
) -> Path:
    """Documents, vocabulary and config in `folder`; returns the config's path."""
    folder.mkdir(parents=True, exist_ok=True)
    sample_run.write_jsonl(folder / "train.jsonl", train)
    sample_run.write_jsonl(folder / "dev.jsonl", dev)
    everything = documents(8, seed=1)
    sample_run.write_vocabulary(folder / "vocab.txt", [str(one["context"]) + "多少？" for one in everything])
    merged = {
        name: {**_SECTIONS.get(name, {}), **(changes or {}).get(name, {})} for name in _SECTIONS | (changes or {})
    }
    return sample_run.write_config(folder, merged, task="docqa")


def train(config: Path, *words: str) -> subprocess.CompletedProcess:
    """Run it in a process (or a grid of them) of its own."""
    return sample_run.run("--config", str(config), *words, module="ernie_pp.tasks.docqa")
