"""Entities as a file has them, before they are checked: what every dialect is read into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Marked:
    """One entity as a file has it; `text` is its own text where the file gives one."""

    start: Any
    end: Any
    label: Any
    text: Any = None


@dataclass(frozen=True)
class MarkedText:
    """A row's text with its entities, None where it marks none; `rest` are the row's other fields."""

    text: Any
    entities: tuple[Marked, ...] | None
    rest: Mapping[str, object]
    notes: Sequence[tuple[str, str]] = ()  # (kind of finding, what is shown)


class Unreadable(ValueError):
    """The fields are not those of the dialect; the arguments are the field, what came, and what was expected."""


def listed(value: Any, name: str) -> list[Any]:
    """The value, where it is a list; Unreadable names its field else."""
    if not isinstance(value, list):
        raise Unreadable(name, value, "a list")
    return value
