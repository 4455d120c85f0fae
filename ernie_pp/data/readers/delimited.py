"""Rows of TSV and CSV files; every value stays the text that the file has."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from ernie_pp.data.faults import Faults, nearest_advice
from ernie_pp.data.readers.lines import Line, read_lines
from ernie_pp.data.readers.quoted import read_quoted_records
from ernie_pp.data.readers.settings import ReadSettings, Source, missing_columns
from ernie_pp.data.rows import Fault, Place, Row


class Record(NamedTuple):
    """The values of one row and the line on which it begins; a blank line has no values."""

    line: int
    values: list[str]


def read_delimited(source: Source, *, settings: ReadSettings, faults: Faults) -> Iterator[Row]:
    """Rows of a file whose columns are separated by TAB (tsv) or comma (csv)."""
    delimiter = "\t" if settings.format == "tsv" else ","
    is_quoted = settings.quoting == "double" or (settings.quoting == "auto" and settings.format == "csv")
    lines = read_lines(source)
    if settings.header:
        lines = _with_a_sound_header(lines, faults=faults)
    if is_quoted:
        quoted = read_quoted_records(lines, path=source.name, delimiter=delimiter, faults=faults)
        records = itertools.starmap(Record, quoted)
    else:
        records = _plain_records(lines, path=source.name, delimiter=delimiter, faults=faults)
    yield from _rows(records, source=source, settings=settings, faults=faults)


def _rows(records: Iterator[Record], *, source: Source, settings: ReadSettings, faults: Faults) -> Iterator[Row]:
    first = _first_record(records, source=source, settings=settings, faults=faults)
    if first is None:
        return
    names = first.values if settings.header else [str(index) for index in range(len(first.values))]
    _check_names(names, place=Place(source.name, first.line), settings=settings, faults=faults)
    if not settings.header:
        records = itertools.chain([first], records)
    for line, values in records:
        place = Place(source.name, line)
        if len(values) == len(names):
            yield Row(place, dict(zip(names, values, strict=True)))
        elif not values and len(names) == 1:  # a blank line is an empty text where there is one column only
            yield Row(place, {names[0]: ""})
        elif values:
            faults.add(_width_fault(place, values, names=names, settings=settings))


def _plain_records(lines: Iterator[Line], *, path: str, delimiter: str, faults: Faults) -> Iterator[Record]:
    for line in lines:
        fault = line.fault
        if fault is None and "\r" in line.text:
            fault = carriage_return_fault(Place(path, line.number), line.text)
        if fault is not None:
            faults.add(fault)
        else:
            yield Record(line.number, line.text.split(delimiter) if line.text else [])


def carriage_return_fault(place: Place, text: str) -> Fault:
    """The fault of a CR inside a row of a file whose rows end in LF."""
    position = text.index("\r")
    advice = "Remove the carriage return; in CSV a field with line breaks stands in double quotes."
    excerpt = text[max(0, position - 20) : position + 20]
    return Fault(place, f"character {position + 1}", excerpt, "a row without a lone carriage return", advice)


def _with_a_sound_header(lines: Iterator[Line], *, faults: Faults) -> Iterator[Line]:
    """The lines; a fault in the first that is not blank is one of the whole file: the next must not pass for it."""
    is_header = True
    for line in lines:
        if is_header and line.fault is not None:
            faults.refuse(line.fault)
        is_header = is_header and not line.text
        yield line


def _first_record(
    records: Iterator[Record], *, source: Source, settings: ReadSettings, faults: Faults
) -> Record | None:
    """The first row that is not blank; None where there is none. A header with broken quotes is refused."""
    num_before = faults.count
    first = next((record for record in records if record.values), None)
    if settings.header and faults.count > num_before:
        faults.refuse(faults.listed[min(num_before, len(faults.listed) - 1)])
    return first


def _check_names(names: list[str], *, place: Place, settings: ReadSettings, faults: Faults) -> None:
    """Refuse a header with a name twice or without a column the settings ask for."""
    twice = next((name for index, name in enumerate(names) if name in names[:index]), None)
    shown = ", ".join(names)
    if twice is not None:
        faults.refuse(Fault(place, f'header, column "{twice}"', shown, "every name once", "Rename one of the columns."))
    for missing in missing_columns(names, settings):
        advice = nearest_advice(missing, names) + _header_advice(settings)
        faults.refuse(Fault(place, "header", shown, f'a column "{missing}"', advice))


def _header_advice(settings: ReadSettings) -> str:
    if settings.header:
        return " Correct data.text / data.label, or set data.header: false if the first line is a row."
    return " Without a header (data.header: false) columns are named by their number from 0."


def _width_fault(place: Place, values: list[str], *, names: list[str], settings: ReadSettings) -> Fault:
    delimiter, name = ("\t", "a TAB") if settings.format == "tsv" else (",", "a comma")
    if len(values) < len(names):
        advice = f"Columns are separated by {name}; check data.format."
    elif settings.format == "tsv":
        advice = "A TAB inside a text has to be replaced by a blank."
    else:
        advice = 'A text with a comma has to stand in double quotes: "…,…".'
    shown = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
    value = f"{len(values)}: {delimiter.join(values)}"
    return Fault(place, "number of columns", value, f"{len(names)} ({shown})", advice)
