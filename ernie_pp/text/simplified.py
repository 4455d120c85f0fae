"""Traditional characters to simplified ones, by the tables that OpenCC's Python edition ships."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ernie_pp.errors import RunError


@dataclass(frozen=True)
class SimplifiedTables:
    """Replacements of the same length: single characters, and phrases that override them (乾坤 keeps 乾)."""

    characters: dict[int, str]
    phrases: dict[str, str]
    any_phrase: re.Pattern[str]


def to_simplified(text: str) -> str:
    """The text in simplified characters, as long as the given one.

    The longest phrase that begins at a place goes first, then single characters, as OpenCC's own "t2s" does.
    Only replacements of the same length are used, so every character keeps its place.
    """
    tables = _read_tables()
    parts, place = [], 0
    for match in tables.any_phrase.finditer(text):
        parts += [text[place : match.start()].translate(tables.characters), tables.phrases[match.group()]]
        place = match.end()
    return "".join(parts) + text[place:].translate(tables.characters)


@cache
def _read_tables() -> SimplifiedTables:
    """Read once, when first needed: a run without this change does not pay for it."""
    folder = _table_folder()
    characters = _read_table(folder / "TSCharacters.txt")
    phrases = _read_table(folder / "TSPhrases.txt")
    longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return SimplifiedTables(
        {ord(old): new for old, new in characters.items()},
        phrases,
        re.compile("|".join(map(re.escape, longest_first))),
    )


def _table_folder() -> Path:
    spec = importlib.util.find_spec("opencc")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / "dictionary"
        if (folder / "TSCharacters.txt").is_file() and (folder / "TSPhrases.txt").is_file():
            return folder
    raise RunError(
        "text.simplified",
        "the tables of opencc-python-reimplemented are not installed (another package may own the name opencc)",
        "Install it: pip install opencc-python-reimplemented==0.1.7",
    )


def _read_table(path: Path) -> dict[str, str]:
    """Old to new; of several readings the first, as OpenCC takes it."""
    table = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        old, _, readings = line.strip().partition("\t")
        new = readings.split(" ")[0]
        if old and len(new) == len(old):
            table[old] = new
    return table
