"""What the front end and a worker process say to each other over their pipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ask:
    """Texts (or pairs) to be answered; `number` is the request's."""

    number: int
    texts: Sequence[str]
    pairs: Sequence[str] | None


@dataclass(frozen=True)
class Drop:
    """Nobody waits for the request any more."""

    number: int


@dataclass(frozen=True)
class Ready:
    """The bundle is loaded and warm; `about` is what clients are told of it."""

    about: Mapping[str, object]


@dataclass(frozen=True)
class Progress:
    """Rows, or questions, that are answered, of all."""

    number: int
    done: int
    total: int


@dataclass(frozen=True)
class Answered:
    """The fields of each prediction, tokens cut from each row, and tokens that were computed."""

    number: int
    predictions: Sequence[Mapping[str, object]]
    cut_tokens: Sequence[int]
    num_tokens: int


@dataclass(frozen=True)
class Refused:
    """The request cannot be answered, and why: it is the client's fault where `where` is of its texts."""

    number: int
    where: str
    what: str


@dataclass(frozen=True)
class Broken:
    """The worker cannot go on."""

    what: str
