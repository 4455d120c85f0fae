"""brat's two files a document: NAME.txt and NAME.ann."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ernie_pp.data.entities.document import Document
from ernie_pp.errors import DataError

_SAFE = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 60


def brat_files(documents: Iterable[Document]) -> Iterator[tuple[str, str]]:
    """(file name, content) of both files of each document; names are its id, or its number, made safe and unique."""
    taken: set[str] = set()
    for number, document in enumerate(documents, start=1):
        name = _name(document, number, taken)
        taken.add(name.lower())
        yield f"{name}.txt", document.text
        yield f"{name}.ann", "".join(_lines(document))


def _lines(document: Document) -> Iterator[str]:
    for number, one in enumerate(document.entities or (), start=1):
        if re.search(r"\s", one.label):
            what = f"has the type {one.label!r}, and brat's have no blanks"
            raise DataError(str(document.place), what, "Rename the type.")
        # The copy of the text stands on one line: brat puts blanks for line breaks.
        copy = re.sub(r"[\r\n\t]", " ", document.text[one.start : one.end])
        yield f"T{number}\t{one.label} {one.start} {one.end}\t{copy}\n"


def _name(document: Document, number: int, taken: set[str]) -> str:
    own = _SAFE.sub("_", str(document.fields.get("id", number)))[:_LONGEST_NAME].strip(".") or str(number)
    return own if own.lower() not in taken else f"{own[: _LONGEST_NAME - 12]}-{number}"
