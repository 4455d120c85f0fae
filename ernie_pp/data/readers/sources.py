"""Opening a file or standard input, and telling its format."""

from __future__ import annotations

import dataclasses
import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ernie_pp.choices import FORMATS_BY_ENDING, Format
from ernie_pp.data.faults import Faults, nearest_advice
from ernie_pp.data.readers.lines import UTF8_BOM, other_encoding
from ernie_pp.data.readers.settings import ReadSettings, Source
from ernie_pp.data.rows import Fault, Place
from ernie_pp.errors import ConfigError, DataError

_BUFFER_BYTES = 1 << 16
_WHITE_SPACE = b" \t\r\n"
# A first line that ends in a tag: a line of JSON never does, for there a text ends in a quote.
_ENDS_IN_TAG = re.compile(rb"[^\r\n]*[ \t\x02](?:O|[BIMES]-[^\s\"]+)[ \t]*\r?\n")
_ADVICE = {
    ".xlsx": "Save the sheet as CSV (UTF-8).",
    ".xls": "Save the sheet as CSV (UTF-8).",
    ".gz": "Unpack the file first.",
    ".zip": "Unpack the file first.",
    ".parquet": "Write it as JSON lines, or as a folder with datasets' save_to_disk.",
}


@contextmanager
def open_source(source: str | Path | BinaryIO) -> Iterator[Source]:
    """The bytes of a file (closed afterwards) or of an open stream (left open); "-" is standard input."""
    if not isinstance(source, (str, Path)) or str(source) == "-":
        if isinstance(source, (str, Path)) and sys.stdin is None:
            raise DataError("standard input", "is closed", "Give the rows through a pipe or <FILE, or name a file.")
        stream = sys.stdin.buffer if isinstance(source, (str, Path)) else source
        with _peekable(stream) as peekable:
            yield Source(_stream_name(stream), peekable)
    else:
        with _open_file(Path(source)) as stream:
            yield Source(str(source), stream)


def resolve_format(source: Source, *, settings: ReadSettings, faults: Faults) -> ReadSettings:
    """Settings with a definite format; .json and standard input go by their first characters."""
    start = source.stream.peek(1)  # type: ignore[attr-defined]
    encoding = other_encoding(start)
    if encoding is not None:
        advice = f"Save the file as UTF-8 (iconv -f {encoding} -t UTF-8)."
        faults.refuse(Fault(Place(source.name, 1), "encoding", encoding, "UTF-8", advice))
    if settings.format != "auto":
        return settings
    if settings.kind == "entities":
        return dataclasses.replace(settings, format=_sniff_entities(source, start))
    ending = Path(source.name).suffix.lower()
    found = FORMATS_BY_ENDING.get(ending)
    if found is None and ending in ("", ".json"):
        found = _sniff_json(start)
        if found is not None and settings.kind == "questions":
            found = "squad"  # told apart as it is read: the list of articles may stand behind other fields
    if found is None:
        advice = _ADVICE.get(ending, "Set it to tsv, csv, jsonl or json.")
        raise ConfigError("data.format", f'is auto, and "{source.name}" does not tell its format', advice)
    return dataclasses.replace(settings, format=found)


def _sniff_entities(source: Source, start: bytes) -> Format:
    """A spreadsheet or JSON by the ending, JSON by its first character; all else has tokens and tags.

    A bracket may be a token too: a tag stands behind it then.
    """
    ending = Path(source.name).suffix.lower()
    if ending in (".csv", ".jsonl", ".ndjson"):
        return FORMATS_BY_ENDING[ending]
    found = _sniff_json(start)
    if found is None and ending == ".json":
        what = f'is auto, and "{source.name}" begins neither with {{ nor with ['
        raise ConfigError("data.format", what, "Set it to conll, if the file has tokens and tags.")
    has_tag = ending != ".json" and _ENDS_IN_TAG.match(_beginning(start)) is not None
    return "conll" if found is None or has_tag else found


def _sniff_json(start: bytes) -> Format | None:
    text = _beginning(start)
    if text.startswith(b"["):
        return "json"
    return "jsonl" if text.startswith(b"{") or not text else None


def _beginning(start: bytes) -> bytes:
    return start.removeprefix(UTF8_BOM).lstrip(_WHITE_SPACE)


def _open_file(path: Path) -> BinaryIO:
    try:
        return path.open("rb", buffering=_BUFFER_BYTES)
    except FileNotFoundError:
        folder = path.parent
        advice = (
            nearest_advice(path.name, _names_in(folder)) if folder.is_dir() else f"There is no folder {folder} either."
        )
        raise DataError(str(path), "is not there", advice) from None
    except IsADirectoryError:
        advice = "Give a file; a folder has to be one that datasets' save_to_disk wrote."
        raise DataError(str(path), "is a folder", advice) from None
    except (OSError, ValueError) as error:  # a name with NUL, or not UTF-8
        raise DataError(
            str(path),
            f"cannot be opened: {getattr(error, 'strerror', None) or error}",
            "Check the path and its rights.",
        ) from error


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(one.name for one in folder.iterdir())
    except OSError:  # one that may be entered, not listed
        return []


def _stream_name(stream: BinaryIO) -> str:
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) and name != "<stdin>" else "standard input"


@contextmanager
def _peekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    if hasattr(stream, "peek"):
        yield stream
        return
    buffered = io.BufferedReader(stream, _BUFFER_BYTES)  # type: ignore[arg-type]
    try:
        yield buffered
    finally:
        buffered.detach()  # else the wrapper closes a stream that is not ours
