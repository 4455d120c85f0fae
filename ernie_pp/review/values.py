"""Values as they are written, made comparable."""

from __future__ import annotations

import re
from typing import Literal

from ernie_pp.review.amounts import parse_amount
from ernie_pp.review.dates import parse_dates
from ernie_pp.text.normalize import Normalization, normalize

Kind = Literal["text", "amount", "date"]

_TIGHT = Normalization(width=True, blanks=True, invisible=True)
# Variants of one mark: a reviewer who types the value does not see the difference.
_MARKS = str.maketrans(
    dict.fromkeys("“”„‟«»「」『』＂", '"')
    | dict.fromkeys("‘’‚‛`´", "'")
    | dict.fromkeys("‐‑‒–—―－−─", "-")
    | dict.fromkeys("【〔〖［", "[")
    | dict.fromkeys("】〕〗］", "]")
    | dict.fromkeys("•‧・∙⋅●", "·")
    | dict.fromkeys("〈﹤", "<")
    | dict.fromkeys("〉﹥", ">")
    | {"～": "~", "〜": "~", "。": ".", "、": ",", "…": "..."}
)
_ENDS = " .,;:!?"


def normalize_value(text: str, kind: Kind) -> str | None:
    """What two ways of writing one value have in common; None where an amount or date cannot be read.

    Text: one width, no blanks, one form of each punctuation mark, none at the ends. Amount: yuan with two decimals,
    another currency with its code. Date: ISO 8601, the two dates of a range with / between them.
    """
    if kind == "amount":
        amount = parse_amount(text)
        return None if amount is None else str(amount)
    if kind == "date":
        return "/".join(parse_dates(text)) or None
    return normalize_text(text)


def normalize_text(text: str) -> str | None:
    """A text value without differences that nobody means; None where nothing is left of it."""
    plain = re.sub(r"\s", "", normalize(text, _TIGHT).text).translate(_MARKS).strip(_ENDS)
    # A title is the same with and without its marks.
    while len(plain) > 2 and (plain[0], plain[-1]) in (("《", "》"), ('"', '"')) and plain[0] not in plain[1:-1]:
        plain = plain[1:-1].strip(_ENDS)
    return plain or None
