"""What is wrong with the wrong entities, counted by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Place = tuple[int, int, str]
# In the order in which a wrong entity is given its kind.
KINDS = ("type", "border", "border_and_type", "spurious")


@dataclass(frozen=True)
class ErrorCounts:
    """Each given entity that is not right is of one kind; `missed` are the true ones that nothing given overlaps."""

    type: int  # the place is right, the type is not
    border: int  # it overlaps a true one of its type
    border_and_type: int  # it overlaps true ones of other types only
    spurious: int  # it overlaps none
    missed: int


def count_errors(true: Sequence[set[Place]], found: Sequence[set[Place]]) -> ErrorCounts:
    """Of the entities of all documents."""
    counts: dict[str, int] = dict.fromkeys((*KINDS, "missed"), 0)
    for gold, given in zip(true, found, strict=True):
        for place in given - gold:
            counts[kind_of_error(place, gold)] += 1
        counts["missed"] += sum(not any(_overlap(place, one) for one in given) for place in gold - given)
    return ErrorCounts(**counts)


def kind_of_error(place: Place, gold: set[Place]) -> str:
    """The kind of a given entity that is not among the true ones."""
    near = list(_overlapping(place, gold))
    if any(one[:2] == place[:2] for one in near):
        return "type"
    if any(one[2] == place[2] for one in near):
        return "border"
    return "border_and_type" if near else "spurious"


def _overlapping(place: Place, others: set[Place]) -> Iterator[Place]:
    return (one for one in others if _overlap(place, one))


def _overlap(one: Place, other: Place) -> bool:
    return one[0] < other[1] and other[0] < one[1]
