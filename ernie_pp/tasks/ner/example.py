"""Documents with their entities, checked; and single texts to predict."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ernie_pp.choices import RowKind
from ernie_pp.data.entities.document import Document, Entity
from ernie_pp.data.faults import Faults, nearest_advice
from ernie_pp.data.labels import LabelSet
from ernie_pp.data.rows import Fault, Place, Row
from ernie_pp.text.invisible import is_blank

# What files to predict hold.
ROW_KIND: RowKind = "rows"


@dataclass(frozen=True)
class Columns:
    """Which field of a row to predict holds the text; there are no pairs, and entities are not looked at."""

    text: str
    text_pair: str | None = None
    label: str | None = None


@dataclass(frozen=True)
class Example:
    """A text to find entities in."""

    place: Place
    text: str
    text_pair: None = None


def fields_of(row: Row, example: Example) -> dict[str, Any]:
    """The fields that a row to predict came with."""
    return dict(row.fields)


def kept_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A row's fields as they stand beside a prediction: entities that it came with are called true ones.

    A row that has true ones already came from a prediction: its entities are another one, and keep their name.
    """
    if "true_entities" in fields:
        return dict(fields)
    return {"true_entities" if name == "entities" else name: value for name, value in fields.items()}


def read_examples(rows: Iterable[Row], columns: Columns, faults: Faults) -> Iterator[Example]:
    """The texts of rows to predict; one that is none becomes a fault."""
    for row in rows:
        text = row.fields.get(columns.text)
        if isinstance(text, str) and not is_blank(text):
            yield Example(row.place, text)
        else:
            shown = text if isinstance(text, str) else repr(text)
            faults.add(Fault(row.place, columns.text, shown, "a text that can be seen"))


def keep_labelled(documents: Iterable[Document], faults: Faults, *, text: str) -> Iterator[Document]:
    """The documents with a text in which entities are marked, or none are; each other one becomes a fault."""
    for document in documents:
        if is_blank(document.text):
            faults.add(Fault(document.place, text, document.text, "a text that can be seen"))
        elif document.entities is None:
            advice = "Mark its entities; where it has none, say so by an empty list."
            faults.add(Fault(document.place, "entities", "nothing", "the entities of the text", advice))
        else:
            yield document


def keep_known_types(documents: Iterable[Document], labels: LabelSet, faults: Faults) -> Iterator[Document]:
    """The documents whose entities all have a type of the run's, by the names that are shown; others are faults."""
    for document in documents:
        numbers = [labels.index_of(entity.label) for entity in document.entities or ()]
        unknown = [e for e, number in zip(document.entities or (), numbers, strict=True) if number is None]
        if unknown:
            faults.add(_unknown_type(document, unknown[0], labels))
            continue
        named = [
            replace(entity, label=labels.names[number])
            for entity, number in zip(document.entities or (), numbers, strict=True)
            if number is not None
        ]
        yield replace(document, entities=tuple(named))


@dataclass(frozen=True)
class Overlap:
    """Two entities of one document that share characters; a flat head can mark the first only."""

    document: Document
    kept: Entity
    other: Entity


def find_overlaps(document: Document) -> list[Overlap]:
    """Each entity that a longer one, or an earlier one of its length, overlaps, with that one."""
    kept: list[Entity] = []  # in the order of their places, none overlaps another
    overlaps = []
    for entity in sorted(document.entities or (), key=_longest_first):
        place = bisect.bisect_right(kept, entity.start, key=lambda one: one.end)
        # None that is kept is shorter, so two at most share characters with this one.
        others = [one for one in kept[place : place + 2] if one.start < entity.end]
        if others:
            overlaps.append(Overlap(document, min(others, key=_longest_first), entity))
        else:
            kept.insert(place, entity)
    return overlaps


def without(document: Document, overlaps: Sequence[Overlap]) -> Document:
    """The document with one entity only wherever several overlap."""
    left_out = {overlap.other for overlap in overlaps}
    return replace(document, entities=tuple(one for one in document.entities or () if one not in left_out))


def overlap_fault(overlap: Overlap) -> Fault:
    """What is wrong with overlapping entities under a head that cannot have them."""
    kept, other, text = overlap.kept, overlap.other, overlap.document.text
    what = f"{other.label} {text[other.start : other.end]} and {kept.label} {text[kept.start : kept.end]}"
    advice = "Set ner.head: global_pointer, which has both, or ner.overlaps: longest, which keeps the longer one."
    return Fault(overlap.document.place, "entities", what, "entities that do not overlap", advice)


def _longest_first(entity: Entity) -> tuple[int, int, str]:
    return entity.start - entity.end, entity.start, entity.label


def _unknown_type(document: Document, entity: Entity, labels: LabelSet) -> Fault:
    shown = document.text[entity.start : entity.end]
    expected = f"one of the types {', '.join(labels.values[:10])}{', …' if len(labels.values) > 10 else ''}"
    return Fault(
        document.place, f"type of {shown}", entity.label, expected, nearest_advice(entity.label, labels.values)
    )
