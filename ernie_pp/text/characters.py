"""What ERNIE's basic tokenizer makes of each character, as tables that a whole batch is looked up in at once."""

from __future__ import annotations

import threading
import unicodedata

import numpy as np

# Kinds of a code point.
UNSEEN, KEPT, MARK, BLANK, DROPPED = range(5)

_NUM_CODES = 0x110000
_CJK_RANGES = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
# Characters of other categories that ERNIE also splits off: ² º 〇 µ Ø ŋ Ʊ.
_MORE_SYMBOLS = frozenset("\u00b2\u00ba\u3007\u00b5\u00d8\u014b\u01b1")


class CharacterTable:
    """Kind and normal form (lower case, accents off) of every code point met so far.

    A kept character becomes `lengths[code]` characters, from `firsts[code]` on in `forms`; `alone` tells which of
    those stand alone as a word (ideographs, punctuation, symbols). Code points are looked at when first met, since
    a walk over all 1.1 million would take longer than loading the rest of a bundle.
    """

    def __init__(self) -> None:
        self.kinds = np.zeros(_NUM_CODES, np.uint8)
        self.firsts = np.zeros(_NUM_CODES, np.int32)
        self.lengths = np.zeros(_NUM_CODES, np.uint8)
        self.forms = np.zeros(0, np.uint32)
        self.alone = np.zeros(0, bool)
        self._lock = threading.Lock()

    def learn(self, codes: np.ndarray) -> None:
        """Fill the tables for those of `codes` that were not met before."""
        unseen = codes[self.kinds[codes] == UNSEEN]
        if len(unseen):
            with self._lock:
                # Looked at again: what another thread added meanwhile may be in use, and must keep its places.
                self._add(np.unique(unseen[self.kinds[unseen] == UNSEEN]).tolist())

    def _add(self, codes: list[int]) -> None:
        forms, alone, first = [], [], len(self.forms)
        kinds = []
        for code in codes:
            kind, form = classify(chr(code))
            kinds.append(kind)
            self.firsts[code], self.lengths[code] = first + len(forms), len(form)
            forms.extend(map(ord, form))
            alone.extend(_is_ideograph(code) or _stands_alone(char) for char in form)
        self.forms = np.concatenate([self.forms, np.array(forms, np.uint32)])
        self.alone = np.concatenate([self.alone, np.array(alone, bool)])
        # Last: another thread that finds a kind may use the other tables at once.
        self.kinds[codes] = kinds


def classify(char: str) -> tuple[int, str]:
    """The kind of one character and, where it is kept, its normal form, by the steps of PaddleNLP's BasicTokenizer.

    As there, Python's own Unicode tables decide: a character younger than they are is dropped.
    """
    category = unicodedata.category(char)
    if char in " \t\n\r" or category in ("Zs", "Zl", "Zp"):
        return BLANK, ""
    if category[0] == "C" or char == "\ufffd":
        return DROPPED, ""
    decomposed = unicodedata.normalize("NFD", char.lower())
    form = "".join(part for part in decomposed if unicodedata.category(part) != "Mn")
    return (KEPT, form) if form else (MARK, "")


def _is_ideograph(code: int) -> bool:
    return any(low <= code <= high for low, high in _CJK_RANGES)


def _stands_alone(char: str) -> bool:
    """Whether the character is punctuation or a symbol; all ASCII but letters, digits and controls is."""
    return unicodedata.category(char)[0] in "PS" or char in _MORE_SYMBOLS
