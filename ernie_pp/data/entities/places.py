"""Where an entity is said to stand, and where its text stands: ways of counting, and which of them a file uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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


def _from_utf16(claim: Claim) -> Span:
    data = claim.text.encode("utf-16-le", "surrogatepass")
    halves = (data[: 2 * max(place, 0)] for place in (claim.start, claim.end))
    start, end = (len(part.decode("utf-16-le", "replace")) for part in halves)
    return start, end


def _from_bytes(claim: Claim) -> Span:
    data = claim.text.encode("utf-8", "surrogatepass")
    start, end = (len(data[: max(place, 0)].decode("utf-8", "replace")) for place in (claim.start, claim.end))
    return start, end


PLAIN = Counting("code points from 0, ends exclusive", _shifted(0, 0))
# In the order in which they are tried.
OTHERS = (
    Counting("ends inclusive", _shifted(0, 1)),
    Counting("counted from 1, ends inclusive", _shifted(-1, 0)),
    Counting("counted from 1, ends exclusive", _shifted(-1, -1)),
    Counting("UTF-16 units, in which an emoji or a rare character counts twice", _from_utf16),
    Counting("UTF-8 bytes", _from_bytes),
    Counting("one place too far left", _shifted(1, 1)),
    Counting("two places too far right", _shifted(-2, -2)),
    Counting("two places too far left", _shifted(2, 2)),
)


def is_right(claim: Claim, counting: Counting) -> bool:
    """Whether the text at the place that a claim means is the entity's own."""
    start, end = counting.resolve(claim)
    return 0 <= start < end <= len(claim.text) and claim.text[start:end] == claim.own


def find_counting(claims: Sequence[Claim]) -> Counting | None:
    """The one way of counting by which every claim that gives its text is right; None where there is none.

    What holds as code points is taken for that.
    """
    checked = [claim for claim in claims if claim.own is not None]
    return next((way for way in (PLAIN, *OTHERS) if all(is_right(claim, way) for claim in checked)), None)


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
