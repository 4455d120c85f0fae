"""Where an answer stands in a document: at its stated start, else where the document has it, or something alike."""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

How = Literal["stated", "exact", "alike"]
# Signs of a number, though Unicode has them among punctuation.
_SIGNS = "%‰"
# Blanks, punctuation, control and format characters.
_PASSED_OVER = ("Z", "P", "C")


@dataclass(frozen=True)
class Located:
    """A place in a document, end exclusive; `num_places`: how many are as plausible where no start was stated."""

    start: int
    end: int
    how: How
    num_places: int = 1


@dataclass(frozen=True)
class Folded:
    """A text without differences of width, blanks, punctuation and case; `places[i]` is where character i is from."""

    text: str
    places: array[int]


def locate(text: str, answer: str, stated: int | None) -> Located | None:
    """The place of an answer: at the stated start, else exact and the nearest to it, else alike and the nearest.

    Where no start is stated the first place is taken. None: the text has nothing alike.
    """
    if not answer:
        return None
    if stated is not None and stated >= 0 and text.startswith(answer, stated):
        return Located(stated, stated + len(answer), "stated")
    spans = [(start, start + len(answer)) for start in _occurrences(text, answer)]
    how: How = "exact" if spans else "alike"
    spans = spans or _alike(text, answer)
    if not spans:
        return None
    if stated is None:
        return Located(*spans[0], how, len(spans))
    return Located(*min(spans, key=lambda span: abs(span[0] - stated)), how)


def fold(text: str) -> Folded:
    """The text as it is compared; a punctuation mark between two digits stays, but for the comma of thousands."""
    characters, origins = [], array("q")
    for place, character in enumerate(text):
        for one in _plain(character):
            characters.append(one)
            origins.append(place)
    kept = [index for index in range(len(characters)) if _counts(characters, index)]
    return Folded("".join(characters[index] for index in kept), array("q", (origins[index] for index in kept)))


# Questions come document by document; a few more are held for files that go to and fro.
_fold_document = lru_cache(maxsize=8)(fold)


def _alike(text: str, answer: str) -> list[tuple[int, int]]:
    wanted = fold(answer).text
    if not wanted:
        return []
    document = _fold_document(text)
    places, found = document.places, []
    for first in _occurrences(document.text, wanted):
        last = first + len(wanted) - 1
        # ㎡ folds to two characters, and no answer begins or ends between them.
        begins = first == 0 or places[first - 1] != places[first]
        ends = last + 1 == len(places) or places[last + 1] != places[last]
        if begins and ends:
            found.append((places[first], places[last] + 1))
    return found


def _occurrences(text: str, piece: str) -> Iterator[int]:
    start = text.find(piece)
    while start >= 0:
        yield start
        start = text.find(piece, start + 1)


@lru_cache(maxsize=1 << 16)
def _plain(character: str) -> str:
    return unicodedata.normalize("NFKC", character).casefold()


@lru_cache(maxsize=1 << 16)
def _is_passed_over(character: str) -> bool:
    return character not in _SIGNS and unicodedata.category(character).startswith(_PASSED_OVER)


def _counts(characters: list[str], index: int) -> bool:
    character = characters[index]
    if not _is_passed_over(character):
        return True
    # Else 3.5 would be found in 35, and 10:30 in 1030.
    is_inside = character != "," and 0 < index < len(characters) - 1
    return is_inside and characters[index - 1].isdigit() and characters[index + 1].isdigit()
