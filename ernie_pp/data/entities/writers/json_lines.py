"""Formats of one JSON object a line.

A text in which nothing is marked gets no list of entities, not an empty one, but for doccano.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ernie_pp.data.entities.document import Document, Entity, Mention
from ernie_pp.data.entities.writers.fields import as_json, with_own_fields


def write_entities(documents: Iterable[Document]) -> Iterator[str]:
    """Our own: {…, "text", "entities": [{"start", "end", "label", "text"}]}, ends exclusive; scores stay."""
    for document in documents:
        entities = [_own(document, one) for one in document.entities or ()]
        yield _line(document, "text", "entities", entities)


def write_cluener(documents: Iterable[Document]) -> Iterator[str]:
    """CLUENER: {…, "text", "label": {type: {mention: [[start, end]]}}}, ends INCLUSIVE."""
    for document in documents:
        labels: dict[str, dict[str, list[list[int]]]] = {}
        for one in document.entities or ():
            mentions = labels.setdefault(one.label, {})
            mentions.setdefault(document.text[one.start : one.end], []).append([one.start, one.end - 1])
        yield _line(document, "text", "label", labels)


def write_cail(documents: Iterable[Document]) -> Iterator[str]:
    """CAIL 2021: {…, "context", "entities": [{"label", "span": ["start;end"]}]}, ends exclusive.

    Every type of the file stands in every line, as in the original: so all documents are held.
    """
    held = list(documents)
    labels = sorted({one.label for document in held for one in document.entities or ()})
    for document in held:
        spans: dict[str, list[str]] = {label: [] for label in labels}
        for one in document.entities or ():
            spans[one.label].append(f"{one.start};{one.end}")
        entities = [{"label": label, "span": found} for label, found in spans.items()]
        yield _line(document, "context", "entities", entities)


def write_doccano(documents: Iterable[Document]) -> Iterator[str]:
    """doccano's JSONL for sequence labelling: {…, "text", "label": [[start, end, type]]}, ends exclusive.

    These are the names that its import of such a project takes unless told others; {"entities": [{"start_offset", …}]}
    is taken by projects with relations only. Other fields become the text's metadata. A file needs some list, and
    to doccano an empty one says no more than none.
    """
    for document in documents:
        labels = [[one.start, one.end, one.label] for one in document.entities or ()]
        yield as_json(with_own_fields(document, {"text": document.text, "label": labels})) + "\n"


def _own(document: Document, one: Entity) -> dict[str, object]:
    values: dict[str, object] = {"start": one.start, "end": one.end, "label": one.label}
    values["text"] = document.text[one.start : one.end]
    return {**values, "score": one.score, "source": one.source} if isinstance(one, Mention) else values


def _line(document: Document, text_name: str, marks_name: str, marks: object) -> str:
    marked = {} if document.entities is None else {marks_name: marks}
    return as_json(with_own_fields(document, {text_name: document.text, **marked})) + "\n"
