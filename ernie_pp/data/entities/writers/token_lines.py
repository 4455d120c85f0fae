"""Token files: a character and its tag a line, a blank between the two, an empty line behind each text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

from ernie_pp.data.entities.document import Document, Entity
from ernie_pp.data.entities.tags import Scheme, tags_of
from ernie_pp.errors import DataError

_ADVICE = "Write a format of JSON, which has room for it: --to entities."
_BYTE_ORDER_MARK = "\ufeff"


def _write(documents: Iterable[Document], *, scheme: Scheme, inside: str) -> Iterator[str]:
    for number, document in enumerate(documents):
        _check_text(document, is_first=number == 0)
        pairs = zip(document.text, _tags(document, scheme), strict=True)
        lines = [f"{one} {inside + tag[1:] if tag[0] == 'I' else tag}\n" for one, tag in pairs]
        yield "".join(lines) + "\n"


def _check_text(document: Document, *, is_first: bool) -> None:
    """DataError for a text that would come back as another one, or as none."""
    what = None
    if not document.text:
        what = "is an empty text, and an empty line only ends one"
    elif is_first and document.text.startswith(_BYTE_ORDER_MARK):
        what = "begins with U+FEFF, which is no character at the beginning of a file"
    # Whatever a tool splits a line at: many split at any white space.
    bad = next((one for one in document.text if one.isspace()), None)
    if bad is not None:
        what = f"holds U+{ord(bad):04X}, white space, which stands between tokens or lines of a token file"
    if what is not None:
        raise DataError(str(document.place), what, _ADVICE)


def _tags(document: Document, scheme: Scheme) -> list[str]:
    """The tags of each character; DataError where they cannot say what is marked."""
    spans = [(one.start, one.end, one.label) for one in document.entities or ()]
    blank = next((label for _, _, label in spans if re.search(r"\s", label)), None)
    if blank is not None:
        raise DataError(str(document.place), f"has the type {blank!r}, and a tag has no blanks", "Rename the type.")
    try:
        return tags_of(spans, len(document.text), scheme)
    except ValueError as error:
        what = f"has entities that overlap, and tags cannot: {_overlap(document)}"
        raise DataError(str(document.place), what, _ADVICE) from error


def _overlap(document: Document) -> str:
    """The first two entities that overlap."""
    before: Entity | None = None
    for one in sorted(document.entities or ()):
        if before is not None and one.start < before.end:
            return f"{_named(document, before)} and {_named(document, one)}"
        before = one
    return "one leaves the text"


def _named(document: Document, one: Entity) -> str:
    return f"{one.label} {document.text[one.start : one.end]!r} ({one.start} to {one.end})"


write_bio = partial(_write, scheme="bio", inside="I")
write_bioes = partial(_write, scheme="bioes", inside="I")
write_bmes = partial(_write, scheme="bioes", inside="M")
