"""Checks of the entities of one file against its texts, and the documents that pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ernie_pp.data.entities.document import Document, Entity
from ernie_pp.data.entities.marked import Marked
from ernie_pp.data.entities.places import PLAIN, Claim, Counting, find_counting, is_right, looks_inclusive, place_nearby
from ernie_pp.data.faults import Faults
from ernie_pp.data.findings import Findings
from ernie_pp.data.rows import Fault, Place

AROUND = 8  # characters shown on each side of a wrong place
_CORRECT = "Correct the places."


@dataclass(frozen=True)
class MarkedRow:
    """A text with entities as the file has them, not checked; None: it marks none."""

    place: Place
    text: str
    entities: tuple[Marked, ...] | None
    rest: Mapping[str, object]


class FileOfEntities:
    """The rows of one file, whose entities are all counted in one way, if in any."""

    def __init__(self, rows: Sequence[MarkedRow], may_repair: bool) -> None:
        self.rows, self.may_repair = rows, may_repair
        claims = [claim for row in rows for claim in _claims(row)]
        self.counting = find_counting(claims)
        self.looks_inclusive = self.counting is PLAIN and looks_inclusive(claims)

    def documents(self, faults: Faults, findings: Findings) -> list[Document]:
        """Those whose entities are all sound, in order."""
        documents = []
        for row in self.rows:
            entities = None if row.entities is None else self._checked(row, row.entities, faults, findings)
            if row.entities is None or entities is not None:
                kept = None if entities is None else _without_duplicates(row, entities, findings)
                documents.append(Document(row.place, row.text, kept, row.rest))
        return documents

    def _checked(
        self, row: MarkedRow, marked: Sequence[Marked], faults: Faults, findings: Findings
    ) -> list[Entity] | None:
        """The entities of a row; None once one of them became a fault."""
        entities = []
        for one in marked:
            fault = _fault_of_form(row, one)
            claim = None if fault is not None else Claim(row.text, one.start, one.end, one.text)
            span = None if claim is None else self._span(claim)
            if claim is not None and span is None:
                fault = self._fault_of_place(row, claim, one.label)
            if fault is not None:
                faults.add(fault)
                return None
            assert span is not None, "what has no place is a fault"
            if span != (one.start, one.end):
                findings.add("moved", row.place, f"{one.label} {row.text[span[0] : span[1]]}")
            entities.append(Entity(*span, one.label))
        return entities

    def _span(self, claim: Claim) -> tuple[int, int] | None:
        """The place of an entity, moved where that is certain and allowed; None where it is wrong."""
        is_plain = 0 <= claim.start < claim.end <= len(claim.text)
        if is_plain and (claim.own is None or is_right(claim, PLAIN)) and self.counting in (PLAIN, None):
            return None if self.looks_inclusive and claim.own is None else (claim.start, claim.end)
        if self.counting in (PLAIN, None):
            return place_nearby(claim) if self.may_repair else None
        assert self.counting is not None
        start, end = self.counting.resolve(claim)
        # Many places are the same either way, as those before a text's first emoji are.
        is_certain = self.may_repair or (start, end) == (claim.start, claim.end)
        return (start, end) if is_certain and 0 <= start < end <= len(claim.text) else None

    def _fault_of_place(self, row: MarkedRow, claim: Claim, label: str) -> Fault:
        start, end = claim.start, claim.end
        shown = f"{label} {start} to {end}: {_around(row.text, start, end)}"
        if not 0 <= start < end <= len(row.text):
            expected = f"a place in the text, which has {len(row.text)} characters"
        else:
            expected = "an entity's place" if claim.own is None else f"{claim.own!r} there"
        return Fault(row.place, "entities", shown, expected, self._advice(claim))

    def _advice(self, claim: Claim) -> str:
        if self.looks_inclusive:
            return f"Some entities of the file are empty: its ends are inclusive, it seems. {_CORRECT}"
        if self.counting not in (PLAIN, None):
            # Where it is repaired by, and this one is still wrong, nothing would mend it.
            return _CORRECT if self.may_repair else _advice_of(self.counting)
        nearby = place_nearby(claim)
        if nearby is None:
            return _CORRECT
        return f"It stands at {nearby[0]} to {nearby[1]}: correct the place, or set ner.repair_offsets: true."


def _advice_of(counting: Counting | None) -> str:
    assert counting is not None
    return (
        f"All entities of the file are where they say if places are read as: {counting.name}. "
        "Correct them, or set ner.repair_offsets: true."
    )


def _claims(row: MarkedRow) -> Iterator[Claim]:
    for one in row.entities or ():
        if _fault_of_form(row, one) is None:
            yield Claim(row.text, one.start, one.end, one.text)


def _fault_of_form(row: MarkedRow, one: Marked) -> Fault | None:
    """What is wrong with an entity whatever its text is."""
    if type(one.start) is not int or type(one.end) is not int:
        shown = f"{one.label}: {one.start!r} to {one.end!r}"
        return Fault(row.place, "entities", shown, "whole numbers for start and end", _CORRECT)
    if not isinstance(one.label, str) or not one.label.strip():
        return Fault(row.place, "entities", f"label {one.label!r}", "the name of a type", "Name the entity's type.")
    if one.text is not None and (not isinstance(one.text, str) or not one.text):
        return Fault(row.place, "entities", f"text {one.text!r}", "the entity's text, or none", _CORRECT)
    return None


def _without_duplicates(row: MarkedRow, entities: Sequence[Entity], findings: Findings) -> tuple[Entity, ...]:
    """Every entity once, in order; what is odd about them is noted."""
    kept = tuple(sorted(set(entities)))
    if len(kept) < len(entities):
        (twice, _), *_ = Counter(entities).most_common(1)
        findings.add("duplicate", row.place, _named(row, twice), count=len(entities) - len(kept))
    reach: Entity | None = None
    for one in kept:
        text = row.text[one.start : one.end]
        if text != text.strip():
            findings.add("blank_edge", row.place, f"{one.label} {text!r}")
        if reach is not None and one.start < reach.end:
            findings.add("overlap", row.place, f"{_named(row, one)} and {_named(row, reach)}")
        reach = one if reach is None or one.end > reach.end else reach
    return kept


def _named(row: MarkedRow, entity: Entity) -> str:
    return f"{entity.label} {row.text[entity.start : entity.end]}"


def _around(text: str, start: int, end: int) -> str:
    """The characters at a place in 「」, with some before and behind."""
    start, end = max(0, min(start, len(text))), max(0, min(end, len(text)))
    end = max(start, end)
    return f"…{text[max(0, start - AROUND) : start]}「{text[start:end]}」{text[end : end + AROUND]}…"
