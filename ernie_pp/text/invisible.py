"""Characters that show nothing."""

from __future__ import annotations

import unicodedata

# Letters and marks by their category: the grapheme joiner, Hangul fillers, Khmer inherent vowels.
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"


def is_invisible(character: str) -> bool:
    """Whether the character shows nothing and takes no room: a control or format character, or a filler."""
    return unicodedata.category(character) in ("Cc", "Cf") or character in FILLERS


def is_blank(text: str) -> bool:
    """Whether no character of the text is to be seen (blanks and invisible characters only)."""
    return all(one.isspace() or is_invisible(one) for one in text)
