"""Where the files of each set are, and what a run on it needs to be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class EntitySet:
    """Files below the data folder. `dev` None: the last tenth of the training lines is put aside for it."""

    name: str
    train: str
    dev: str | None
    max_length: int
    epochs: int
    batch_size: int = 32
    has_nested: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)


SETS = (
    EntitySet("resume_ner", "resume_ner/train.char.bmes", "resume_ner/dev.char.bmes", 192, 10),
    EntitySet("msra_ner", "msra_ner/train_8000.txt", "msra_ner/dev_1500.txt", 128, 8),
    EntitySet("weibo_ner", "weibo_ner/weiboNER_2nd_conll.train", "weibo_ner/weiboNER_2nd_conll.dev", 192, 12),
    EntitySet("cluener2020", "cluener2020/train.json", None, 64, 4, has_nested=True),
    EntitySet("cail2021_ie", "cail2021_ie/xxcq_small.json", None, 256, 6, has_nested=True),
    EntitySet("fddc_contracts", "fddc_contracts/train.jsonl", "fddc_contracts/dev.jsonl", 256, 3, 16, has_nested=True),
)


def files_of(one: EntitySet, data: Path, scratch: Path) -> tuple[Path, Path]:
    """(training file, dev file); where a set has no dev file both are written to `scratch`."""
    train = data / one.train
    if one.dev is not None:
        return train, data / one.dev
    lines = train.read_text(encoding="utf-8").rstrip("\n").split("\n")
    cut = len(lines) - len(lines) // 10
    files = scratch / f"{one.name}.train.json", scratch / f"{one.name}.dev.json"
    for path, part in zip(files, (lines[:cut], lines[cut:]), strict=True):
        path.write_text("".join(f"{line.rstrip(chr(13))}\n" for line in part), encoding="utf-8")
    return files
