"""Where an entity is said to stand, and where its text stands: ways of counting, and which of them a file uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Span = tuple[int, int]
# How far from its place an entity's own text is looked for.
NEAR = 2


@dataclass(frozen=True)
class Claim:
    """An entity as its file has it: whole numbers for places, and its own text where the file gives one."""

    text: str  # of the document
    start: int
    end: int
    own: str | None


@dataclass(frozen=True)
class Counting:
    """A way to count places; `resolve` gives the code points [start, end exclusive) that a claim means by it."""

    name: str
    resolve: Callable[[Claim], Span]


def _shifted(start: int, end: int) -> Callable[[Claim], Span]:
    return lambda claim: (claim.start + start, claim.end + end)


def _by_units(units_of: Callable[[np.ndarray], np.ndarray]) -> Callable[[Claim], Span]:
    return lambda claim: (_at_unit(claim.text, claim.start, units_of), _at_unit(claim.text, claim.end, units_of))


def _at_unit(text: str, place: int, units_of: Callable[[np.ndarray], np.ndarray]) -> int:
    """The code point that begins behind so many units; -1 where none does, nor the text ends there."""
    ends = _ends_in_units(text, units_of)
    if not 0 <= place <= ends[-1]:
        return -1
    found = int(np.searchsorted(ends, place))
    return found if ends[found] == place else -1


@lru_cache(maxsize=4)
def _ends_in_units(text: str, units_of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """int64 [characters + 1]: units before each code point, and those of the whole text."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(units_of(points), dtype=np.int64)])


def _utf16_units(points: np.ndarray) -> np.ndarray:
    return 1 + (points > 0xFFFF)


def _utf8_units(points: np.ndarray) -> np.ndarray:
    return 1 + (points > 0x7F) + (points > 0x7FF) + (points > 0xFFFF)


PLAIN = Counting("code points from 0, ends exclusive", _shifted(0, 0))
# In the order in which they are tried: what only texts with such characters can show says more than a shift.
OTHERS = (
    Counting("UTF-16 units, in which an emoji or a rare character counts twice", _by_units(_utf16_units)),
    Counting("UTF-8 bytes", _by_units(_utf8_units)),
    Counting("ends inclusive", _shifted(0, 1)),
    Counting("counted from 1, ends inclusive", _shifted(-1, 0)),
    Counting("counted from 1, ends exclusive", _shifted(-1, -1)),
    Counting("one place too far left", _shifted(1, 1)),
    Counting("two places too far right", _shifted(-2, -2)),
    Counting("two places too far left", _shifted(2, 2)),
    Counting("ends one place too far right", _shifted(0, -1)),
)


def is_right(claim: Claim, counting: Counting) -> bool:
    """Whether the text at the place that a claim means is the entity's own."""
    start, end = counting.resolve(claim)
    return 0 <= start < end <= len(claim.text) and claim.text[start:end] == claim.own


def find_counting(claims: Sequence[Claim]) -> Counting | None:
    """The one way of counting by which every claim that gives its text is right; None where there is none.

    What holds as code points is taken for that. Of several other ways that all hold the first is named where every
    claim means the same place by them; where they disagree, none is certain.
    """
    checked = [claim for claim in claims if claim.own is not None]
    if all(is_right(claim, PLAIN) for claim in checked):
        return PLAIN
    fitting = [way for way in OTHERS if all(is_right(claim, way) for claim in checked)]
    agree = all(way.resolve(claim) == fitting[0].resolve(claim) for way in fitting[1:] for claim in claims)
    return fitting[0] if fitting and agree else None


def looks_inclusive(claims: Sequence[Claim]) -> bool:
    """Whether claims without texts can only mean inclusive ends: some are empty otherwise, and none leaves its text."""
    untold = [claim for claim in claims if claim.own is None]
    has_empty = any(claim.start == claim.end for claim in untold)
    return has_empty and all(0 <= claim.start <= claim.end < len(claim.text) for claim in untold)


def place_nearby(claim: Claim) -> Span | None:
    """The only place within NEAR of where a claim says that its own text stands; None for none, or for several."""
    own = claim.own
    if not own:
        return None
    starts = range(max(claim.start - NEAR, 0), claim.start + NEAR + 1)
    found = [start for start in starts if claim.text.startswith(own, start)]
    return (found[0], found[0] + len(own)) if len(found) == 1 else None
