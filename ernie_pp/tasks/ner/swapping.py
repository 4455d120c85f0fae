"""More training documents from few: copies in which entities are others of their type.

Mention replacement (Dai and Adel 2020, "An Analysis of Simple Data Augmentation for Named Entity Recognition", section
3.2), the same everywhere in a document: a model then learns what stands around an entity, and not the few names that
a small set holds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from ernie_pp.data.entities.document import Document, Entity
from ernie_pp.tasks.ner.example import find_overlaps, without


def with_swapped_copies(documents: Sequence[Document], num_copies: int, *, seed: int) -> list[Document]:
    """The documents, each followed by its copies; the same for the same seed."""
    if num_copies == 0:
        return list(documents)
    rng, pools = random.Random(seed), _pools(documents)
    found = []
    for document in documents:
        found.append(document)
        found += [_swapped(document, pools, rng) for _ in range(num_copies)]
    return found


def _pools(documents: Sequence[Document]) -> dict[str, list[str]]:
    """The different texts of each type's entities."""
    pools: dict[str, dict[str, None]] = {}
    for document in documents:
        for entity in document.entities or ():
            pools.setdefault(entity.label, {})[document.text[entity.start : entity.end]] = None
    return {label: list(texts) for label, texts in pools.items()}


def _swapped(document: Document, pools: dict[str, list[str]], rng: random.Random) -> Document:
    chosen: dict[tuple[str, str], str] = {}
    text, entities, place = "", [], 0
    # What stands inside a longer entity goes with it.
    for entity in without(document, find_overlaps(document)).entities or ():
        own = document.text[entity.start : entity.end]
        key = (own, entity.label)
        if key not in chosen:
            chosen[key] = rng.choice(pools[entity.label])
        text += document.text[place : entity.start]
        entities.append(Entity(len(text), len(text) + len(chosen[key]), entity.label))
        text, place = text + chosen[key], entity.end
    return replace(document, text=text + document.text[place:], entities=tuple(entities))
