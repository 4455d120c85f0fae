"""An answer begins and ends where a character that a reader sees does.

The rules are the extended grapheme clusters of Unicode (UAX #29), as far as tokens can cut one: letters with their
accents, Hangul from its parts, emoji of several characters, flags.
"""

from __future__ import annotations

import re
import unicodedata

_JOINER = "\u200d"
_MARKS = ("Mn", "Me", "Mc")
# Drawn with what is before them: skin tones, the tags of flags, vowels and finals of a Hangul syllable.
_ATTACHED = re.compile("[\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u1160-\u11ff\ud7b0-\ud7fb]")
# As in text/normalize.py: between other characters a joiner is a slip.
_PICTURE = re.compile("[\u2190-\u2bff\U0001f000-\U0001faff]")
_FLAG_LETTER = re.compile("[\U0001f1e6-\U0001f1ff]")


def whole_characters(text: str, start: int, end: int) -> tuple[int, int]:
    """The same span, longer where it would cut a letter from its accents, or an emoji into its parts."""
    if start >= end:
        return start, end
    while start > 0 and _is_inside_character(text, start):
        start -= 1
    while end < len(text) and _is_inside_character(text, end):
        end += 1
    return start, end


def _is_inside_character(text: str, place: int) -> bool:
    """Whether what a reader sees as one character stands on both sides of a place within the text."""
    before, behind = text[place - 1], text[place]
    if before.isascii() and behind.isascii():
        return False
    if behind == _JOINER:
        return _joins(text, place)
    if before == _JOINER and _PICTURE.match(behind):
        return _joins(text, place - 1)
    if _FLAG_LETTER.match(before) and _FLAG_LETTER.match(behind):
        return _flag_letters_before(text, place) % 2 == 1
    return not before.isspace() and (bool(_ATTACHED.match(behind)) or unicodedata.category(behind) in _MARKS)


def _joins(text: str, place: int) -> bool:
    """Whether the joiner here makes one emoji of two."""
    base = place - 1
    while base > 0 and (_ATTACHED.match(text[base]) or unicodedata.category(text[base]) in _MARKS):
        base -= 1
    is_followed = place + 1 < len(text) and bool(_PICTURE.match(text[place + 1]))
    return base >= 0 and is_followed and bool(_PICTURE.match(text[base]))


def _flag_letters_before(text: str, place: int) -> int:
    """How many letters of flags stand in a row before a place; they pair from the first on."""
    first = place
    while first > 0 and _FLAG_LETTER.match(text[first - 1]):
        first -= 1
    return place - first
