"""A text and what is marked in it: what every format is read into, and every format is written from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ernie_pp.data.rows import Place


@dataclass(frozen=True, order=True)
class Entity:
    """`text[start:end]` is of type `label`; code points of the user's text, end exclusive."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, order=True)
class Mention(Entity):
    """An entity that was predicted: `score` is its probability, `source` is "model" or the rule that found it."""

    score: float = 1.0
    source: str = "model"


@dataclass(frozen=True)
class Document:
    """One text. `entities` are in order of their places and none is there twice; None: the file marks none at all.

    `fields` are what else the row holds, which a conversion hands on and a prediction keeps.
    """

    place: Place
    text: str
    entities: tuple[Entity, ...] | None
    fields: Mapping[str, object] = field(default_factory=dict)
