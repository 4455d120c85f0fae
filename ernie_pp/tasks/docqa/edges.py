"""An answer ends where a character that a reader sees ends."""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
_MARKS = ("Mn", "Me", "Mc")


def whole_characters(text: str, start: int, end: int) -> tuple[int, int]:
    """The same span, longer where it would cut a letter from its accents, or an emoji into its parts."""
    while 0 < start < end and (_belongs_to_last(text[start]) or text[start - 1] == _JOINER):
        start -= 1
    while 0 < end < len(text) and (_belongs_to_last(text[end]) or text[end - 1] == _JOINER):
        end += 1
    return start, end


def _belongs_to_last(character: str) -> bool:
    """Whether it is drawn with the character before it: an accent, a variation selector, a joiner, a skin tone."""
    is_tone = "\U0001f3fb" <= character <= "\U0001f3ff"
    return character == _JOINER or is_tone or unicodedata.category(character) in _MARKS
