"""A plain method to compare a model with: the training entities, found again by their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ernie_pp.data.entities.document import Document, Entity
from ernie_pp.text.terms import TermMatcher

NAME = "longest match of the training entities"


def fit_dictionary(documents: Sequence[Document]) -> TermMatcher[str]:
    """Every text that is an entity in training, with the type it has most often (of equals the first by name)."""
    counts: dict[str, Counter[str]] = {}
    for document in documents:
        for entity in document.entities or ():
            counts.setdefault(document.text[entity.start : entity.end], Counter())[entity.label] += 1
    return TermMatcher({text: min(types, key=lambda t: (-types[t], t)) for text, types in counts.items()})


def find_entities(matcher: TermMatcher[str], texts: Sequence[str]) -> list[list[Entity]]:
    """The entities of each text: from left to right the longest one that is known."""
    return [[Entity(start, end, label) for start, end, label in matcher.find(text)] for text in texts]
