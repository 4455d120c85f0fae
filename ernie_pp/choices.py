"""Words of the settings that are also used where no config is loaded, which takes a while."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

Format = Literal["auto", "tsv", "csv", "jsonl", "json", "datasets", "conll", "brat", "squad"]
# How entities stand in the fields of a JSON row.
Dialect = Literal["auto", "entities", "cluener", "cail", "doccano", "label_studio"]
# What a file holds: rows of named fields, texts with entities, or documents with questions, in any format of those.
RowKind = Literal["rows", "entities", "questions"]
Quoting = Literal["auto", "none", "double"]
OnError = Literal["stop", "skip"]
Math = Literal["auto", "off"]
Truncate = Literal["head", "tail", "middle", "error"]
# What a bundle is for, and how it holds or computes numbers.
BundleFormat = Literal["inference", "inference-legacy", "onnx", "lite"]
Precision = Literal["fp32", "fp16", "bf16", "int8"]

# More than any machine has cores; far more would end Paddle, not a message.
MAX_THREADS = 1024
# Stands before the name of a data set that `datasets` loads, where else the path of a file would stand.
DATASET_PREFIX = "datasets:"
# What format `auto` takes a file for; the content of .json decides between two.
FORMATS_BY_ENDING: dict[str, Format] = {
    ".tsv": "tsv",
    ".txt": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


def may_be_table(source: str, form: Format) -> bool:
    """Whether a source may be TSV or CSV, as far as its name and the format tell."""
    if form != "auto":
        return form in ("tsv", "csv")
    ending = Path(source).suffix.lower()
    known = FORMATS_BY_ENDING.get(ending)
    return not may_be_dataset(source, form) and (known in ("tsv", "csv") if known else ending != ".json")


def may_be_dataset(source: str, form: Format) -> bool:
    """Whether a source is read by `datasets`: by its prefix, by the format, or as a folder."""
    return source.startswith(DATASET_PREFIX) or form == "datasets" or os.path.isdir(source)
