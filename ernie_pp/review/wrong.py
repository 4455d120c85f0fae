"""Where a review was wrong, with the text around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from ernie_pp.review.evaluate import FieldOutcome
from ernie_pp.review.fields import Field, FieldValue

AROUND = 30


@dataclass(frozen=True)
class ReviewError:
    """One field of one document that is not as it should be.

    "wrong": another value stands there; "missing": none does; "extra": there should be none. `around` is the text
    around the first place of the found value, `around_true` around that of the true one ("" where it stands nowhere).
    """

    document: str
    field: str
    kind: Literal["wrong", "missing", "extra"]
    found: tuple[str, ...]
    true: tuple[str, ...]
    confidence: float | None
    around: str
    around_true: str

    def to_json(self) -> dict[str, object]:
        """The error as plain values."""
        return asdict(self)


def list_errors(
    document: str, text: str, fields: Sequence[Field], golds: Sequence[Sequence[str]], outcomes: Sequence[FieldOutcome]
) -> Iterator[ReviewError]:
    """The errors of one document's fields, in their order."""
    for field, gold, outcome in zip(fields, golds, outcomes, strict=True):
        if not outcome.extra and not outcome.lost:
            continue
        wrong = [one for one in field.values if one.value in outcome.extra]
        yield ReviewError(
            document,
            field.name,
            "wrong" if outcome.extra and outcome.lost else "extra" if outcome.extra else "missing",
            found=tuple(one.text for one in field.values),
            true=tuple(gold),
            confidence=wrong[0].confidence if wrong else None,
            around=_around_value(text, wrong),
            around_true=_around_gold(text, gold),
        )


def excerpt_around(text: str, start: int, end: int) -> str:
    """`text[start:end]` in 【】 with what stands around it, line breaks as blanks."""
    before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    return " ".join(f"{before}【{text[start:end]}】{after}".split())


def _around_value(text: str, values: list[FieldValue]) -> str:
    return excerpt_around(text, values[0].mentions[0].start, values[0].mentions[0].end) if values else ""


def _around_gold(text: str, gold: Sequence[str]) -> str:
    places = [(text.find(one), len(one)) for one in gold]
    start, length = next((place for place in places if place[0] >= 0), (-1, 0))
    return excerpt_around(text, start, start + length) if length else ""
