"""Records whose fields may stand in double quotes, with line breaks inside, read by Python's csv module.

The lines of a record are kept until it is complete, so that a quote that is never closed costs its own line only:
reading goes on with the line after the one where that quote opened.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers.lines import MAX_LINE_BYTES, Line
from ernie_pp.data.rows import Fault, Place

# An open quote may not swallow more than this.
MAX_RECORD_LINES = 10_000
MAX_RECORD_CHARACTERS = MAX_LINE_BYTES
_QUOTE_ADVICE = (
    'Close the quote; a quote inside a quoted field is written twice: "". data.quoting: none reads quotes as text.'
)


class _TooLongError(Exception):
    pass


class _RecordLines:
    """The lines csv.reader asks for, each remembered until the next record starts."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._again: deque[Line] = deque()
        self.taken: list[Line] = []
        self._num_characters = 0

    def __iter__(self) -> _RecordLines:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self.taken.append(line)
        self._num_characters += len(line.text)
        is_long = self._num_characters > MAX_RECORD_CHARACTERS or len(self.taken) > MAX_RECORD_LINES
        if is_long and len(self.taken) > 1:
            raise _TooLongError
        return line.text + line.end

    def start_record(self) -> None:
        self.taken = []
        self._num_characters = 0

    def read_again(self, *, after: int) -> None:
        """Give the taken lines after number `after` of them once more."""
        self._again.extendleft(reversed(self.taken[after + 1 :]))


def read_quoted_records(
    lines: Iterator[Line], *, path: str, delimiter: str, faults: Faults
) -> Iterator[tuple[int, list[str]]]:
    """The line each record begins on, and its values (none for a blank line)."""
    if csv.field_size_limit() < MAX_RECORD_CHARACTERS:
        csv.field_size_limit(MAX_RECORD_CHARACTERS)  # of the process; the default refuses texts over 131,072
    source = _RecordLines(lines)
    reader = csv.reader(source, delimiter=delimiter, strict=True)
    while True:
        source.start_record()
        try:
            values = next(reader)
        except StopIteration:
            return
        except (csv.Error, _TooLongError):
            opened = _opening_line(source.taken, delimiter)
            for fault in _record_faults(source.taken, path=path, opened=opened):
                faults.add(fault)
            source.read_again(after=opened)
            reader = csv.reader(source, delimiter=delimiter, strict=True)
            continue
        broken = [line.fault for line in source.taken if line.fault]
        for fault in broken:
            faults.add(fault)
        if not broken:
            yield source.taken[0].number, values


def _opening_line(taken: list[Line], delimiter: str) -> int:
    """Which of the lines holds the last opening quote before the record went wrong."""
    opened, state = 0, "start"
    for index, line in enumerate(taken):
        for character in line.text + line.end:
            if state == "quoted":
                state = "closing" if character == '"' else "quoted"
            elif character == '"' and state in ("start", "closing"):
                opened = index if state == "start" else opened
                state = "quoted"
            elif character == delimiter:
                state = "start"
            elif state == "closing" and character not in "\r\n":
                return opened
            else:
                state = "plain"
    return opened


def _record_faults(taken: list[Line], *, path: str, opened: int) -> list[Fault]:
    """What to say of a record that csv refused: its lines' own faults up to the opening quote, else the quote."""
    broken = [line.fault for line in taken[: opened + 1] if line.fault]
    if broken:
        return broken
    line = taken[opened]
    place = Place(path, line.number)
    position = line.text.find("\r")
    if position >= 0 and '"' not in line.text:
        advice = "Remove the carriage return, or put the field in double quotes."
        shown = line.text[max(0, position - 20) : position + 20]
        return [Fault(place, f"character {position + 1}", shown, "a row without a lone carriage return", advice)]
    start = max(line.text.rfind('"') - 30, 0) if len(taken) == opened + 1 else 0
    return [Fault(place, "quotes", line.text[start:], 'every opened " closed before the next column', _QUOTE_ADVICE)]
