"""Figures as JSON that people can read, and counts as words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from ernie_pp.durable import write_text

# A list of plain numbers that was spread over lines. No text of JSON holds a line break, so none is touched.
_SPREAD = re.compile(r'\[\n\s*([^\[\]{}"]*?)\n\s*\]')


def write_figures(path: Path, values: Mapping[str, object]) -> None:
    """Write JSON with one list of numbers a line: a confusion of 100 labels has 100 lines, not 10,000."""
    text = json.dumps(values, ensure_ascii=False, indent=1)
    write_text(path, _SPREAD.sub(lambda found: "[" + re.sub(r"\s+", " ", found[1]) + "]", text) + "\n")


def say_count(count: int, noun: str) -> str:
    """A count with its noun: 1 row, 2 rows."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
