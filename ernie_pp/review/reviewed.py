"""A document that was reviewed: what pages, JSON and CSV are written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ernie_pp.data.entities.document import Mention
from ernie_pp.review.fields import Field, FieldValue


@dataclass(frozen=True)
class ReviewedDocument:
    """One document: its id as the user knows it, its text, what was found and the fields filled from that."""

    id: str
    text: str
    mentions: tuple[Mention, ...]
    fields: tuple[Field, ...]

    @property
    def num_to_look_at(self) -> int:
        """Fields that are in doubt, or required and missing."""
        return sum(field.needs_a_look for field in self.fields)

    def to_json(self) -> dict[str, object]:
        """The review as plain values; the text itself is left out."""
        fields = {field.name: _field_as_json(field, self.text) for field in self.fields}
        return {"id": self.id, "num_characters": len(self.text), "fields": fields}


def first_to_look_at(fields: Sequence[Field]) -> list[Field]:
    """The fields in the order a reviewer reads them: missing ones, ones in doubt, the rest."""
    ranks = {"missing": 0, "doubt": 1, "found": 2}
    return sorted(fields, key=lambda field: (not field.needs_a_look, ranks[field.status] if field.needs_a_look else 0))


def _field_as_json(field: Field, text: str) -> dict[str, object]:
    return {
        "status": field.status,
        "reason": field.reason,
        "kind": field.kind,
        "values": [_value_as_json(value, text) for value in field.values],
        "others": [_value_as_json(value, text) for value in field.others],
        "unread": [_mention_as_json(mention, text) for mention in field.unread],
    }


def _value_as_json(value: FieldValue, text: str) -> dict[str, object]:
    mentions = [_mention_as_json(mention, text) for mention in value.mentions]
    confidence = round(value.confidence, 6)
    return {"value": value.value, "text": value.text, "confidence": confidence, "mentions": mentions}


def _mention_as_json(mention: Mention, text: str) -> dict[str, object]:
    return {
        "start": mention.start,
        "end": mention.end,
        "text": text[mention.start : mention.end],
        "label": mention.label,
        "score": round(mention.score, 6),
        "source": mention.source,
    }
