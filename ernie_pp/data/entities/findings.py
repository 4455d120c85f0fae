"""What may be noticed in a file of entities and is not held against it."""

from __future__ import annotations

from ernie_pp.data.findings import Findings

# What each kind is, and what was done about it.
_KINDS = {
    "illegal_tag": "illegal tags, each read as the beginning, or the end, of an entity",
    "cut_entity": "texts that begin in the middle of an entity, which an empty line cuts in two",
    "duplicate": "entities marked twice, which count once",
    "overlap": "entities that overlap another one of their text",
    "blank_edge": "entities that begin or end with a blank, which no token has and no model finds",
    "moved": "entities that stood at a wrong place, moved to where their text is (ner.repair_offsets)",
    "more_annotations": "texts with several annotations, of which the first is read",
    "cancelled": "annotations that were cancelled, left out",
    "predicted": "texts with predictions that nobody has gone over, which are read as entities",
    "other_marks": "relations, attributes and notes, not read",
}


def entity_findings() -> Findings:
    """The findings of one file of entities, none so far."""
    return Findings(_KINDS)
