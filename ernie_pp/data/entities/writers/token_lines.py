"""Token files: a character and its tag a line, a blank between the two, an empty line behind each text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from ernie_pp.data.entities.document import Document
from ernie_pp.data.entities.tags import Scheme, tags_of
from ernie_pp.errors import DataError

_ADVICE = "Write a format of JSON, which has room for it: --to entities."


def _write(documents: Iterable[Document], *, scheme: Scheme, inside: str) -> Iterator[str]:
    for document in documents:
        tags = _tags(document, scheme)
        pairs = zip(document.text, tags, strict=True)
        lines = [f"{one} {inside + tag[1:] if tag[0] == 'I' else tag}\n" for one, tag in pairs]
        yield "".join(lines) + "\n"


def _tags(document: Document, scheme: Scheme) -> list[str]:
    """The tags of each character; DataError where a text or its entities cannot be written so."""
    bad = next((one for one in document.text if one in " \t\r\n\x0b\x0c\x85\u2028\u2029"), None)
    if bad is not None:
        what = f"holds U+{ord(bad):04X}, which stands between tokens or lines of a token file"
        raise DataError(str(document.place), what, _ADVICE)
    spans = [(one.start, one.end, one.label) for one in document.entities or ()]
    try:
        return tags_of(spans, len(document.text), scheme)
    except ValueError as error:
        raise DataError(str(document.place), "has entities that overlap, and tags cannot", _ADVICE) from error


write_bio = partial(_write, scheme="bio", inside="I")
write_bioes = partial(_write, scheme="bioes", inside="I")
write_bmes = partial(_write, scheme="bioes", inside="M")
