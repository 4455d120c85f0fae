"""What is wrong with the wrong entities, counted by kind."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence
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


class PlaceIndex:
    """Finds which of one document's places overlap another one, without a look at all of them."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = sorted(places)
        self._starts = [start for start, _, _ in self._places]
        # The last end of each place and all before it: where that is too early, nothing before overlaps.
        self._ends = list(itertools.accumulate((end for _, end, _ in self._places), max))

    def overlapping(self, place: Place) -> list[Place]:
        """Those that share a character with `place`, in order."""
        found = []
        index = bisect.bisect_left(self._starts, place[1]) - 1
        while index >= 0 and self._ends[index] > place[0]:
            if self._places[index][1] > place[0]:
                found.append(self._places[index])
            index -= 1
        return found[::-1]


def count_errors(true: Sequence[set[Place]], found: Sequence[set[Place]]) -> ErrorCounts:
    """Of the entities of all documents."""
    counts: dict[str, int] = dict.fromkeys((*KINDS, "missed"), 0)
    for gold, given in zip(true, found, strict=True):
        gold_index, given_index = PlaceIndex(gold), PlaceIndex(given)
        for place in given - gold:
            counts[kind_of_error(place, gold_index.overlapping(place))] += 1
        counts["missed"] += sum(not given_index.overlapping(place) for place in gold - given)
    return ErrorCounts(**counts)


def kind_of_error(place: Place, near: Sequence[Place]) -> str:
    """The kind of a given entity that is not true; `near` are the true ones that overlap it."""
    if any(one[:2] == place[:2] for one in near):
        return "type"
    if any(one[2] == place[2] for one in near):
        return "border"
    return "border_and_type" if near else "spurious"
