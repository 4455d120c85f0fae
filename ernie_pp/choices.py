"""Words of the settings that are also used where no config is loaded, which takes a while."""

from __future__ import annotations

from typing import Literal

Format = Literal["auto", "tsv", "csv", "jsonl", "json", "datasets"]
Quoting = Literal["auto", "none", "double"]
OnError = Literal["stop", "skip"]
Truncate = Literal["head", "tail", "middle", "error"]

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
