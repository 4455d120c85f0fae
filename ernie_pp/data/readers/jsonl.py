"""Rows of JSON lines: an object a line, or an array of objects a line."""

from __future__ import annotations

from collections.abc import Iterator

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers.json_rows import row_of_value
from ernie_pp.data.readers.lines import read_lines
from ernie_pp.data.readers.settings import ReadSettings, Source
from ernie_pp.data.readers.strict_json import Decoded, JsonSyntaxError, Problem, StrictDecoder
from ernie_pp.data.rows import Place, Row

_BLANKS = " \t\r"


def read_jsonl(source: Source, *, settings: ReadSettings, faults: Faults) -> Iterator[Row]:
    """Rows of a file of JSON lines; blank lines between them are passed over."""
    decoder = StrictDecoder()
    for line in read_lines(source):
        if line.fault is not None:
            faults.add(line.fault)
            continue
        text = line.text.strip(_BLANKS)
        if not text:
            continue
        place = Place(source.name, line.number)
        try:
            decoded = _decode_line(decoder, text)
        except JsonSyntaxError as error:
            faults.add(error.problem.at(place))
            continue
        for element in _elements(decoded):
            row = row_of_value(element, place=place, settings=settings, faults=faults)
            if row is not None:
                yield row


def _decode_line(decoder: StrictDecoder, text: str) -> Decoded:
    if text in ("{", "[", "[{"):
        advice = "The value goes on in the next lines: set data.format: json for an array, or write one object a line."
        raise JsonSyntaxError(Problem("line", text, "a complete JSON object", advice), is_cut_off=True)
    decoded = decoder.decode(text)
    if decoded.end < len(text):
        shown, advice = text[decoded.end :], "Begin a new line after each object."
        problem = Problem(f"character {decoded.end + 1}", shown, "nothing after the JSON value", advice)
        raise JsonSyntaxError(problem, is_cut_off=False)
    return decoded


def _elements(decoded: Decoded) -> list[Decoded]:
    if decoded.problem is None and isinstance(decoded.value, list):
        return [Decoded(value, decoded.end, None) for value in decoded.value]
    return [decoded]
