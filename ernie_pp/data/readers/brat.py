"""Documents of brat's standoff format: NAME.txt holds a text, NAME.ann beside it what is marked in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ernie_pp.bounded import read_text
from ernie_pp.data.faults import Faults
from ernie_pp.data.readers.settings import ReadSettings
from ernie_pp.data.rows import Fault, Place, Row
from ernie_pp.errors import DataError

TEXT, MARKS = ".txt", ".ann"
MAX_BYTES = 64 << 20
_ADVICE = "brat writes: T1<TAB>Label start end<TAB>text."


def is_brat(source: str | Path, *, settings: ReadSettings) -> bool:
    """Whether a source is read as brat's: by the format, or as a folder, or a file, of marks."""
    path = Path(source)
    if settings.format == "brat":
        return True
    if settings.kind != "entities" or settings.format != "auto" or str(source) == "-":
        return False
    return path.suffix == MARKS or (path.is_dir() and any(path.glob(f"*{MARKS}")))


def read_brat(path: Path, *, faults: Faults) -> Iterator[Row]:
    """A row {"id", "text", "entities", "brat"} a document, by name; a link is not followed and is a fault.

    "brat" counts the lines that mark no entity: relations, events, attributes, notes.
    """
    for marks in _mark_files(path):
        link = next((one for one in (marks, marks.with_suffix(TEXT)) if one.is_symlink()), None)
        if link is not None:
            faults.add(Fault(Place(str(link), 1), "file", "a link", "a file", "Copy what it points to in its place."))
            continue
        text = read_text(marks.with_suffix(TEXT), max_bytes=MAX_BYTES, error=DataError, do="Each .ann has its .txt.")
        entities, num_others = _read_marks(marks, faults)
        if entities is not None:
            brat = {"others": num_others}
            yield Row(Place(str(marks), 1), {"id": marks.stem, "text": text, "entities": entities, "brat": brat})


def _mark_files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(one for one in path.glob(f"*{MARKS}") if one.is_file() or one.is_symlink())
    marks = path.with_suffix(MARKS)
    if not marks.is_file():
        raise DataError(str(path), f"has no {marks.name} beside it", "Name the folder, or a file of a pair.")
    return [marks]


def _read_marks(path: Path, faults: Faults) -> tuple[list[dict] | None, int]:
    """(entities, number of other lines); None for the entities where one of them is a fault."""
    entities, num_others, is_sound = [], 0, True
    content = read_text(path, max_bytes=MAX_BYTES, error=DataError, do="Save it as UTF-8.")
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.startswith("T"):
            num_others += bool(line.strip())
            continue
        entity = _entity(line.rstrip("\r"))
        if isinstance(entity, str):
            faults.add(Fault(Place(str(path), number), "line", line, entity, _ADVICE))
            is_sound = False
        else:
            entities.append(entity)
    return (entities if is_sound else None), num_others


def _entity(line: str) -> dict | str:
    """The entity of a line that begins with T, or what was expected instead."""
    parts = line.split("\t")
    words = parts[1].split(" ") if len(parts) == 3 else []
    if any(";" in word for word in words):
        return "one span without a gap: a model finds no entity in parts"
    if len(words) != 3 or not all(word.isdecimal() for word in words[1:]):
        return "a label, a start and an end"
    # brat puts a blank for each line break into the copy of an entity's text.
    return {"start": int(words[1]), "end": int(words[2]), "label": words[0], "text": parts[2]}
