"""The documents of a review: rows with a text each, a text file, or a folder of text files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.bounded import read_text
from ernie_pp.choices import OnError
from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.data.rows import Fault, Place, Row
from ernie_pp.errors import ConfigError, DataError
from ernie_pp.text.invisible import is_blank

# As long as a row may be.
MAX_BYTES = 1 << 20
_ENDING = ".txt"


@dataclass(frozen=True)
class SourceDocument:
    """One document: where it stands, its id (its own, or its place), its text and the row's other fields."""

    place: Place
    id: str
    text: str
    fields: Mapping[str, object]


@dataclass(frozen=True)
class SourceSettings:
    """How rows are read: the fields with the text and with the document's id (rows without one have their place)."""

    text: str = "text"
    id: str = "id"
    gold: str | None = None  # a field every row must have
    on_error: OnError = "stop"


def read_sources(source: str | Path, settings: SourceSettings, faults: Faults) -> Iterator[SourceDocument]:
    """Every document in its order, a folder's by name; faults end with a DataError as they do for `read_rows`."""
    path = Path(source)
    if path.is_dir() or path.suffix.lower() == _ENDING:
        if settings.gold is not None:
            what = f"has no effect on {source}: text files have no fields with true values"
            raise ConfigError("--gold", what, "Give JSON lines, or leave it out.")
        yield from _read_texts(path, faults)
        return
    columns = (settings.text,) if settings.gold is None else (settings.text, settings.gold)
    for row in read_rows(source, settings=ReadSettings(columns=columns), faults=faults):
        document = _of_row(row, settings, faults)
        if document is not None:
            yield document
    faults.check()


def _read_texts(path: Path, faults: Faults) -> Iterator[SourceDocument]:
    files = sorted(one for one in path.iterdir() if one.suffix.lower() == _ENDING) if path.is_dir() else [path]
    if not files:
        raise DataError(str(path), f"has no file that ends in {_ENDING}", f"Save each contract as {_ENDING} (UTF-8).")
    for file in files:
        # Every character of the file is one of the text: places are counted in what the user has.
        text = read_text(file, max_bytes=MAX_BYTES, error=DataError, do="Give plain text in UTF-8.")
        if is_blank(text):
            faults.add(Fault(Place(str(file), 1), "text", text, "a text", "Leave the file out."))
            continue
        yield SourceDocument(Place(str(file), 1), file.stem, text, {})
    faults.check()


def _of_row(row: Row, settings: SourceSettings, faults: Faults) -> SourceDocument | None:
    text, name = row.fields[settings.text], row.fields.get(settings.id)
    if not isinstance(text, str) or is_blank(text):
        faults.add(Fault(row.place, settings.text, str(text), "a text", "Leave the row out."))
        return None
    has_id = isinstance(name, (str, int)) and not isinstance(name, bool) and str(name).strip() != ""
    shown = str(name) if has_id else f"{Path(row.place.path).name}-{row.place.line}"
    return SourceDocument(row.place, shown, text, row.fields)
