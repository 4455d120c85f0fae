"""Tag schemes: from spans of tokens to tags and back, and which tag may follow which.

O stands outside every entity. BIO: B- begins an entity, I- goes on with it. BIOES: E- ends one, S- is one of a single
token. BMES, as files have it, says M- for I-.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

Scheme = Literal["bio", "bioes"]
Span = tuple[int, int, str]  # first token, last token (exclusive), label
OUTSIDE = "O"
_PREFIXES: dict[Scheme, str] = {"bio": "BI", "bioes": "BIES"}
_BEGINS, _ENDS = frozenset("BS"), frozenset("ES")


def split_tag(tag: str) -> tuple[str, str]:
    """(prefix, label) of a tag, ("O", "") of O; a label may hold further dashes."""
    prefix, _, label = tag.partition("-")
    return ("I" if prefix == "M" else prefix), label


def tags_of(spans: Sequence[Span], length: int, scheme: Scheme) -> list[str]:
    """Tags of `length` tokens; ValueError where spans overlap, or leave the tokens."""
    tags = [OUTSIDE] * length
    for first, last, label in spans:
        if not 0 <= first < last <= length or any(tag != OUTSIDE for tag in tags[first:last]):
            raise ValueError(f"the span {first} to {last} ({label}) overlaps another, or leaves the {length} tokens")
        tags[first:last] = _tags_of_one(last - first, label, scheme)
    return tags


def spans_of(tags: Sequence[str]) -> list[Span]:
    """The entities that tags of any scheme mark, in order.

    A tag that goes on with no entity of its label begins one, as seqeval and conlleval read it when they are not
    strict.
    """
    spans: list[Span] = []
    first, label = -1, ""
    previous = OUTSIDE
    for place, tag in enumerate([*tags, OUTSIDE]):
        prefix, own = split_tag(tag)
        if first >= 0 and (prefix == OUTSIDE or own != label or prefix in _BEGINS or previous in _ENDS):
            spans.append((first, place, label))
            first = -1
        if prefix != OUTSIDE and first < 0:
            first, label = place, own
        previous = prefix
    return spans


def tag_names(labels: Sequence[str], scheme: Scheme) -> list[str]:
    """Every tag there is: O, then those of each label in turn."""
    return [OUTSIDE, *(f"{prefix}-{label}" for label in labels for prefix in _PREFIXES[scheme])]


def legal_starts(names: Sequence[str]) -> np.ndarray:
    """bool [tags]: which may be the first of a text."""
    return np.array([is_legal_step(OUTSIDE, name, has_ends=_has_ends(names)) for name in names])


def legal_ends(names: Sequence[str]) -> np.ndarray:
    """bool [tags]: which may be the last of a text."""
    return np.array([is_legal_step(name, OUTSIDE, has_ends=_has_ends(names)) for name in names])


def legal_transitions(names: Sequence[str]) -> np.ndarray:
    """bool [from, to]: which tag may follow which."""
    has_ends = _has_ends(names)
    return np.array([[is_legal_step(before, after, has_ends=has_ends) for after in names] for before in names])


def is_legal_step(before: str, after: str, *, has_ends: bool) -> bool:
    """Whether a tag may follow another; `has_ends`: the scheme ends every entity by E- or S-."""
    (prefix, label), (own, own_label) = split_tag(before), split_tag(after)
    goes_on = own in ("I", "E")
    is_open = prefix in ("B", "I")
    if goes_on:
        return is_open and label == own_label
    return not (has_ends and is_open)


def _has_ends(names: Sequence[str]) -> bool:
    return any(split_tag(name)[0] in _ENDS for name in names)


def _tags_of_one(length: int, label: str, scheme: Scheme) -> list[str]:
    if scheme == "bio":
        return [f"B-{label}", *[f"I-{label}"] * (length - 1)]
    if length == 1:
        return [f"S-{label}"]
    return [f"B-{label}", *[f"I-{label}"] * (length - 2), f"E-{label}"]
