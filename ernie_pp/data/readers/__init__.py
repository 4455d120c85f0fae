"""Rows of the user's data, one reader a format.

Every value stays as the file has it, and what is wrong is told by file, line, column and value. All readers are
generators: a file of any size takes bounded memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ernie_pp.choices import DATASET_PREFIX
from ernie_pp.data.faults import Faults
from ernie_pp.data.readers.brat import is_brat, read_brat
from ernie_pp.data.readers.conll import read_conll
from ernie_pp.data.readers.delimited import read_delimited
from ernie_pp.data.readers.hub import is_saved_dataset, read_dataset
from ernie_pp.data.readers.json_array import read_json_array
from ernie_pp.data.readers.jsonl import read_jsonl
from ernie_pp.data.readers.settings import ReadSettings
from ernie_pp.data.readers.sources import open_source, resolve_format
from ernie_pp.data.readers.squad import read_squad
from ernie_pp.data.rows import Fault, Place, Row
from ernie_pp.errors import ConfigError

__all__ = ["ReadSettings", "is_dataset", "read_rows"]

_READERS = {
    "tsv": read_delimited,
    "csv": read_delimited,
    "jsonl": read_jsonl,
    "json": read_json_array,
    "conll": read_conll,
    "squad": read_squad,
}


def read_rows(source: str | Path | BinaryIO, *, settings: ReadSettings, faults: Faults) -> Iterator[Row]:
    """Rows of a file, of an open binary stream ("-": standard input) or of a dataset, one after the other.

    Raises DataError at the end (or at the limit) for faults that stop the run, those the caller added on the way
    included, and at once for what makes the whole source unreadable.
    """
    num_rows, num_before = 0, faults.count
    for row in _rows(source, settings=settings, faults=faults):
        num_rows += 1
        yield row
    faults.check()
    if num_rows == 0:
        name = str(source) if isinstance(source, (str, Path)) and str(source) != "-" else "standard input"
        skipped = faults.count - num_before
        advice = "The file is empty or has a header only."
        if skipped:
            first = "".join(map(str, faults.listed[num_before : num_before + 1]))
            advice = f"All rows are left out. The first: {first}"
        faults.refuse(Fault(Place(name, 1), "rows", f"{skipped} skipped, 0 read", "at least one row", advice))


def is_dataset(source: str | Path, *, settings: ReadSettings) -> bool:
    """Whether the source is read by `datasets`."""
    named = str(source).startswith(DATASET_PREFIX) or settings.format == "datasets"
    return named or (str(source) != "-" and is_saved_dataset(source))


def _rows(source: str | Path | BinaryIO, *, settings: ReadSettings, faults: Faults) -> Iterator[Row]:
    if isinstance(source, (str, Path)) and is_brat(source, settings=settings):
        yield from read_brat(Path(source), faults=faults)
        return
    if isinstance(source, (str, Path)) and is_dataset(source, settings=settings):
        yield from read_dataset(str(source), settings=settings, faults=faults)
        return
    with open_source(source) as opened:
        settings = resolve_format(opened, settings=settings, faults=faults)
        if settings.only_tables is not None and settings.format not in ("tsv", "csv"):
            what = f"has no effect on {opened.name}: it is about TSV and CSV, and these rows are {settings.format}"
            raise ConfigError(settings.only_tables, what, "Leave it out.")
        yield from _READERS[settings.format](opened, settings=settings, faults=faults)
