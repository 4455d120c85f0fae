"""A row of a user's file before any task has looked at it, and what can be wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where a row stands: the file and its line, both as a person counts them (from 1)."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path} line {self.line}"


@dataclass(frozen=True)
class Row:
    """One record: its place and its fields as the file has them (text, number, list, None)."""

    place: Place
    fields: Mapping[str, object]


@dataclass(frozen=True)
class Fault:
    """One thing wrong with one row: the column, the value that came (an excerpt), what was expected, what to do."""

    place: Place
    column: str
    value: str
    expected: str
    advice: str = ""

    def __str__(self) -> str:
        return f'{self.place}, {self.column} "{self.value}", expected {self.expected}'
