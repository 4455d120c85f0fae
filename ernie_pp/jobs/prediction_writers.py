"""Predictions as JSON lines, CSV or TSV; a file appears whole when the last row is written."""

from __future__ import annotations

import contextlib
import csv
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, Protocol

from ernie_pp.data.rows import Place
from ernie_pp.durable import replaced_file, told_as_unwritable
from ernie_pp.errors import ConfigError, DataError, RunError

OutputFormat = Literal["auto", "jsonl", "csv", "tsv"]


class Writer(Protocol):
    """Takes one row after the other."""

    def write(self, fields: Mapping[str, object], *, place: Place) -> None:
        """Write one row; `place` is where it came from, for the message if it cannot be written."""
        ...


@contextlib.contextmanager
def open_writer(output: str, output_format: OutputFormat) -> Iterator[Writer]:
    """A writer to a file, or to standard output for "-"."""
    kind = _resolve(output, output_format)
    if output == "-":
        if sys.stdout is None:
            raise RunError("standard output", "is closed", "Name a file: --output FILE.")
        with _open_output(sys.stdout.fileno(), name="standard output") as stream:
            yield _WRITERS[kind](stream)
        return
    path = Path(output)
    with told_as_unwritable(output):
        is_stream = path.is_char_device() or path.is_fifo()
        if not path.parent.is_dir():
            raise ConfigError("--output", f"{output}: the folder {path.parent} is not there", "Make it first.")
    if is_stream:
        # A device or pipe takes the rows as they come; it must not be replaced by a file.
        with _open_output(path, name=output) as stream:
            yield _WRITERS[kind](stream)
        return
    with replaced_file(path) as temporary, _open_output(temporary, name=output) as stream:
        yield _WRITERS[kind](stream)


class _Output:
    """Text into a file, pipe or open descriptor. Its own failures are told as the output's, nobody else's are."""

    def __init__(self, target: int | Path, *, name: str) -> None:
        self._name = name
        with told_as_unwritable(name):
            # A descriptor is somebody else's: it stays open.
            self._stream = open(target, "w", encoding="utf-8", newline="", closefd=not isinstance(target, int))  # noqa: SIM115

    def write(self, text: str) -> None:
        with told_as_unwritable(self._name):
            self._stream.write(text)

    def close(self) -> None:
        with told_as_unwritable(self._name):
            self._stream.close()


@contextlib.contextmanager
def _open_output(target: int | Path, *, name: str) -> Iterator[_Output]:
    output = _Output(target, name=name)
    try:
        yield output
    finally:
        output.close()


class _JsonLines:
    def __init__(self, stream: _Output) -> None:
        self._stream = stream

    def write(self, fields: Mapping[str, object], *, place: Place) -> None:
        self._stream.write(_as_json(fields) + "\n")


class _Csv:
    def __init__(self, stream: _Output) -> None:
        self._writer = csv.writer(stream, lineterminator="\n")
        self._columns: list[str] | None = None

    def write(self, fields: Mapping[str, object], *, place: Place) -> None:
        if self._columns is None:
            self._columns = list(fields)
            self._writer.writerow(self._columns)
        _check_columns(fields, self._columns, place)
        self._writer.writerow([_cell(fields[name]) for name in self._columns])


class _Tsv:
    def __init__(self, stream: _Output) -> None:
        self._stream = stream
        self._columns: list[str] | None = None

    def write(self, fields: Mapping[str, object], *, place: Place) -> None:
        if self._columns is None:
            self._columns = list(fields)
            self._line(self._columns, place)
        _check_columns(fields, self._columns, place)
        self._line([_cell(fields[name]) for name in self._columns], place)

    def _line(self, cells: list[str], place: Place) -> None:
        bad = next((cell for cell in cells if any(c in cell for c in "\t\n\r")), None)
        if bad is not None:
            what = f"has a TAB or line break in a field, which TSV output cannot hold: {bad[:60]!r}"
            raise DataError(str(place), what, "Write JSON lines or CSV: --output-format jsonl.")
        self._stream.write("\t".join(cells) + "\n")


_WRITERS = {"jsonl": _JsonLines, "csv": _Csv, "tsv": _Tsv}


def _resolve(output: str, output_format: OutputFormat) -> str:
    if output_format != "auto":
        return output_format
    ending = Path(output).suffix.lower().lstrip(".")
    return ending if ending in ("csv", "tsv") else "jsonl"


def _check_columns(fields: Mapping[str, object], columns: list[str], place: Place) -> None:
    odd = sorted(set(fields) ^ set(columns))
    if odd:
        what = f"differs from the first row in the field {odd[0]!r}; a table needs the same fields in every row"
        raise DataError(str(place), what, "Write JSON lines: --output-format jsonl.")


def _cell(value: object) -> str:
    """Text as it is, nothing for null, JSON for everything else."""
    if isinstance(value, str):
        return value
    return "" if value is None else _as_json(value)


def _as_json(value: object) -> str:
    """JSON; a date or another object of a `datasets` source as its text."""
    return json.dumps(value, ensure_ascii=False, default=str)
