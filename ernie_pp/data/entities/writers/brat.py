"""brat's two files a document: NAME.txt and NAME.ann."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from ernie_pp.data.entities.document import Document
from ernie_pp.errors import DataError

_UNSAFE = re.compile(r"[^\w.-]+")
_ADVICE = "Write a format of JSON, which has room for it: --to entities."
_BYTE_ORDER_MARK = "\ufeff"
_LONGEST_NAME = 60  # characters of four bytes, and the ending, fit into the 255 bytes of a name


def brat_files(documents: Iterable[Document]) -> Iterator[tuple[str, str]]:
    """(file name, content) of both files of each document; names are its id, or its number, made safe and unique.

    A folder is read in the order of its names, so numbers are of one width; all documents are held for it.
    """
    held = list(documents)
    taken: set[str] = set()
    for number, document in enumerate(held, start=1):
        name = _free_name(_name(document, f"{number:0{len(str(len(held)))}}"), taken)
        taken.add(name.lower())  # some systems take a and A for one file
        yield f"{name}.txt", document.text
        yield f"{name}.ann", "".join(_lines(document))


def _lines(document: Document) -> Iterator[str]:
    """The lines of a .ann; DataError for what brat, or who reads its files, would take for something else."""
    if document.text.startswith(_BYTE_ORDER_MARK):
        raise DataError(
            str(document.place), "begins with U+FEFF, which is no character at the beginning of a file", _ADVICE
        )
    for number, one in enumerate(document.entities or (), start=1):
        text = document.text[one.start : one.end]
        if re.search(r"\s", one.label):
            what = f"has the type {one.label!r}, and brat's have no blanks"
            raise DataError(str(document.place), what, "Rename the type.")
        # A .ann repeats the text in one line and has no escapes.
        if re.search(r"[\r\n\t]", text):
            what = f"has an entity with a line break or TAB, which brat has no way to write: {one.label} {text!r}"
            raise DataError(str(document.place), what, _ADVICE)
        yield f"T{number}\t{one.label} {one.start} {one.end}\t{text}\n"


def _name(document: Document, number: str) -> str:
    own = document.fields.get("id")
    # A name that begins with a dot is hidden, one that begins with a dash is taken for a switch by commands.
    return number if own is None else _UNSAFE.sub("_", str(own))[:_LONGEST_NAME].lstrip(".-").rstrip(".") or number


def _free_name(name: str, taken: set[str]) -> str:
    """The name, with the first free number behind it where another document has it."""
    others = (f"{name[: _LONGEST_NAME - 12]}-{copy}" for copy in itertools.count(2))
    return next(one for one in itertools.chain([name], others) if one.lower() not in taken)
