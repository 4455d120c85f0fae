"""How a source of rows is to be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

from ernie_pp.choices import Format, Quoting, RowKind


@dataclass(frozen=True)
class ReadSettings:
    """Format of the rows, and the columns (or JSON fields) that each of them must have."""

    format: Format = "auto"
    header: bool = True  # of TSV and CSV; without one the columns are named "0", "1", ...
    quoting: Quoting = "auto"  # auto: double for CSV, none for TSV
    columns: tuple[str, ...] = ()
    split: str = "train"  # of a `datasets` source
    kind: RowKind = "rows"  # what a file of unknown format may hold; questions: of any layout, so no columns
    only_tables: str | None = None  # a word the user gave that is about TSV and CSV: it must not go without effect


@dataclass(frozen=True)
class Source:
    """An open file, or standard input: the name a message calls it by, and its bytes."""

    name: str
    stream: BinaryIO  # can be peeked into


def missing_columns(present: Iterable[str], settings: ReadSettings) -> list[str]:
    """The required columns that are not there, in the order they were asked for."""
    if settings.kind == "questions":  # every layout has names of its own
        return []
    known = frozenset(present)
    return [column for column in settings.columns if column not in known]
