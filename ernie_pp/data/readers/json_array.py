"""Rows of a JSON array, or of one array after the other, read element by element whatever the file's size."""

from __future__ import annotations

from collections.abc import Iterator

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers.json_rows import row_of_value
from ernie_pp.data.readers.open_json import OpenText, Values, expected, read_elements, read_values
from ernie_pp.data.readers.settings import ReadSettings, Source
from ernie_pp.data.rows import Row

_LINES_ADVICE = "For one JSON object a line set data.format: jsonl."


def read_json_array(source: Source, *, settings: ReadSettings, faults: Faults) -> Iterator[Row]:
    """Rows of `[{…}, {…}]`; several such arrays may follow each other (an array a line)."""
    for place, decoded in read_values(OpenText(source), _array, starts="[", faults=faults):
        row = row_of_value(decoded, place=place, settings=settings, faults=faults)
        if row is not None:
            yield row


def _array(text: OpenText, character: str) -> Values:
    if character != "[":
        raise expected(text, "[ at the start of an array", _LINES_ADVICE if character == "{" else "")
    text.pass_over(character)
    yield from read_elements(text)
