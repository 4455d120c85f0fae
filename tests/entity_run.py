"""Self-written documents with entities, and a config: the smallest run of named entities there can be."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Mapping
from pathlib import Path

import sample_run

_PEOPLE = ("王小明", "李红", "欧阳海", "赵一鸣", "孙倩", "周大勇")
_PLACES = ("临江市", "青石镇", "南桥区", "白云县")
_KINDS = ("钢材", "纸张", "设备", "灯具")
_SENTENCES = (
    ("{P}住在{L}，每天很早起床。", "{P}是{L}人！"),
    ("昨天，{P}和{P}去了{L}；", "{L}的{P}买了两台电脑，"),
    ("今天天气很好。", "没有人来。"),
    ("{C}的老板是{P}。", "{P}在{C}工作，"),
)


def document(rng: random.Random, *, num_sentences: int, nested: bool) -> dict[str, object]:
    """A text with people, places and companies; a company's name holds its place where entities are nested."""
    text, entities = "", []
    for _ in range(num_sentences):
        pattern = rng.choice(rng.choice(_SENTENCES))
        for part in pattern.replace("{", "\0{").replace("}", "}\0").split("\0"):
            if part == "{C}":
                place, start = rng.choice(_PLACES), len(text)
                text += f"{place}{rng.choice(_KINDS)}公司"
                entities.append({"start": start, "end": len(text), "label": "公司"})
                if nested:
                    entities.append({"start": start, "end": start + len(place), "label": "地点"})
            elif part in ("{P}", "{L}"):
                word = rng.choice(_PEOPLE if part == "{P}" else _PLACES)
                entities.append(
                    {"start": len(text), "end": len(text) + len(word), "label": "人" if part == "{P}" else "地点"}
                )
                text += word
            else:
                text += part
    return {"text": text, "entities": entities}


def write_entities(folder: Path, changes: Mapping[str, Mapping[str, object]] | None = None, **ner: object) -> Path:
    """Documents, some longer than a window, vocabulary and config; returns the config's path."""
    folder.mkdir(parents=True, exist_ok=True)
    rng, nested = random.Random(7), ner.get("head") == "global_pointer"
    rows = [document(rng, num_sentences=1 + number % 9, nested=nested) for number in range(96)]
    sample_run.write_jsonl(folder / "train.jsonl", rows[:72])
    sample_run.write_jsonl(folder / "dev.jsonl", rows[72:])
    sample_run.write_vocabulary(folder / "vocab.txt", [str(row["text"]) for row in rows])
    text, train = {"max_length": 40}, {"epochs": 25, "batch_size": 12, "learning_rate": 5e-3, "eval_every": 50}
    sections = {"text": text, "train": train, "ner": ner, **(changes or {})}
    return sample_run.write_config(folder, sections, task="ner")


def train(config: Path, *words: str) -> subprocess.CompletedProcess:
    """Run it in a process (or a grid of them) of its own."""
    return sample_run.run("--config", str(config), *words, module="ernie_pp.tasks.ner")
