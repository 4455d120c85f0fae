"""Finding many given terms in a text, by exact characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class TermMatcher(Generic[T]):
    """Terms, each with a value. Places are code points of the text, ends exclusive."""

    def __init__(self, terms: Mapping[str, T]) -> None:
        self._values = {term: value for term, value in terms.items() if term}
        lengths: dict[str, set[int]] = {}
        for term in self._values:
            lengths.setdefault(term[0], set()).add(len(term))
        # By first character, the longest first: few characters begin terms of many lengths.
        self._lengths = {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}

    def __len__(self) -> int:
        return len(self._values)

    def find(self, text: str) -> list[tuple[int, int, T]]:
        """(start, end, value) from left to right: at each place the longest term, and none that overlaps another."""
        found, place = [], 0
        while place < len(text):
            first = next(self._at(text, place), None)
            if first is None:
                place += 1
            else:
                found.append(first)
                place = first[1]
        return found

    def find_all(self, text: str) -> list[tuple[int, int, T]]:
        """(start, end, value) of every occurrence, overlapping ones too; by start, the longest first."""
        return [found for place in range(len(text)) for found in self._at(text, place)]

    def _at(self, text: str, place: int) -> Iterator[tuple[int, int, T]]:
        for length in self._lengths.get(text[place], ()):
            term = text[place : place + length]
            if len(term) == length and term in self._values:
                yield place, place + length, self._values[term]
