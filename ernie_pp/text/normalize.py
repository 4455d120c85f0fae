"""Text made more uniform before it is tokenized, with a map back to the text as the user gave it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from ernie_pp.text.invisible import FILLERS
from ernie_pp.text.simplified import to_simplified

# Full-width forms of ASCII, the wide blank, and ￠￡￢￣￤￥￦.
_HALF_WIDTH = (
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
    | {0x3000: 0x20}
    | dict(zip(range(0xFFE0, 0xFFE7), map(ord, "¢£¬¯¦¥₩"), strict=True))
)
_WIDE = re.compile("[\u3000\uff01-\uff5e\uffe0-\uffe6]")
# A single ordinary blank is left alone.
_ODD_BLANKS = re.compile(r"[^\S ]|\s{2,}")
_BLANKS = re.compile(r"\s+")
# Controls, soft hyphen, zero-width characters, direction marks, invisible operators, byte order mark, annotation
# marks, fillers. A zero-width joiner stays between two parts of an emoji, which it makes one of.
_INVISIBLE = re.compile(
    f"[{FILLERS}\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
    "|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])"
)


@dataclass(frozen=True)
class Normalization:
    """Which changes are made; the keys of the same names in TextConfig say what each does."""

    width: bool = False
    simplified: bool = False
    blanks: bool = False
    invisible: bool = False

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not isinstance(value, bool):
                raise TypeError(f"{name} is {value!r}, not true or false")

    @property
    def is_on(self) -> bool:
        """Whether any change is made."""
        return self.width or self.simplified or self.blanks or self.invisible


@dataclass(frozen=True)
class NormalizedText:
    """A changed text; character i comes from `raw[starts[i]:ends[i]]`, and these spans ascend without overlap.

    No step makes a text longer, so one as long as the raw text has every character in its old place.
    """

    text: str
    starts: np.ndarray  # int32 [characters]
    ends: np.ndarray  # int32 [characters], exclusive


def normalize(text: str, normalization: Normalization) -> NormalizedText:
    """Remove invisible characters, then change widths, then traditional characters, then runs of blanks."""
    places = np.arange(len(text) + 1, dtype=np.int32)
    result = NormalizedText(text, places[:-1], places[1:])
    if normalization.invisible and _INVISIBLE.search(result.text):
        result = _without_invisible(result)
    if normalization.width and _WIDE.search(result.text):
        result = replace(result, text=result.text.translate(_HALF_WIDTH))
    if normalization.simplified:
        result = replace(result, text=to_simplified(result.text))
    if normalization.blanks and _ODD_BLANKS.search(result.text):
        result = _with_single_blanks(result)
    return result


def _without_invisible(before: NormalizedText) -> NormalizedText:
    removed = [match.start() for match in _INVISIBLE.finditer(before.text)]
    return NormalizedText(
        _INVISIBLE.sub("", before.text), np.delete(before.starts, removed), np.delete(before.ends, removed)
    )


def _with_single_blanks(before: NormalizedText) -> NormalizedText:
    """Each run becomes one blank that comes from the whole run."""
    keep, ends = np.ones(len(before.text), bool), before.ends.copy()
    for match in _BLANKS.finditer(before.text):
        keep[match.start() + 1 : match.end()] = False
        ends[match.start()] = before.ends[match.end() - 1]
    return NormalizedText(_BLANKS.sub(" ", before.text), before.starts[keep], ends[keep])
