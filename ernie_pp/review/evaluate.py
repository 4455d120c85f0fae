"""Figures of reviewed fields against what is true, counted a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ernie_pp.config.ner import FieldConfig
from ernie_pp.errors import DataError
from ernie_pp.review.fields import Field
from ernie_pp.review.values import Kind, normalize_text, normalize_value
from ernie_pp.tasks.bootstrap import bootstrap_interval
from ernie_pp.tasks.curve import Curve, measure_curve

RECALLS = (0.8, 0.9)


@dataclass(frozen=True)
class Scores:
    """Precision, recall and F1 of values; 0 where nothing was to be counted."""

    num_right: int
    num_found: int
    num_true: int

    @property
    def precision(self) -> float:
        """Share of the found values that are true."""
        return self.num_right / self.num_found if self.num_found else 0.0

    @property
    def recall(self) -> float:
        """Share of the true values that were found."""
        return self.num_right / self.num_true if self.num_true else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        both = self.num_found + self.num_true
        return 2 * self.num_right / both if both else 0.0


@dataclass(frozen=True)
class FieldOutcome:
    """One field of one document against its true values: what a figure counts, and what a curve ranks."""

    name: str
    right: tuple[str, ...]
    extra: tuple[str, ...]
    lost: tuple[str, ...]
    ranked: tuple[tuple[float, bool], ...]  # (confidence, is it true) of all that a lower threshold would give

    @property
    def counts(self) -> tuple[int, int, int]:
        """Right, found and true values."""
        right = len(self.right)
        return right, right + len(self.extra), right + len(self.lost)


@dataclass(frozen=True)
class ReviewFigures:
    """Figures of a field each, and of all of them together."""

    num_documents: int
    fields: Mapping[str, tuple[Scores, Curve]]
    micro: Scores
    macro_f1: float
    interval: tuple[float, float]  # of the micro F1, 95 %

    def to_json(self) -> dict[str, object]:
        """The figures as plain values, fractions from 0 to 1."""
        return {
            "documents": self.num_documents,
            "micro": _as_json(self.micro) | {"f1_interval": list(self.interval)},
            "macro_f1": self.macro_f1,
            "fields": {name: _as_json(scores) | curve.to_json() for name, (scores, curve) in self.fields.items()},
        }


def read_gold(value: object, *, where: str) -> tuple[str, ...]:
    """The true values a row gives a field: a text, a list of texts, or null for none; else DataError."""
    texts = []
    for one in value if isinstance(value, list) else [] if value is None else [value]:
        if not isinstance(one, str):
            advice = "Give true values as they stand in the text, or leave the field out."
            raise DataError(where, f"is {one!r}, expected text, a list of texts or null", advice)
        texts.append(one)
    return tuple(one for one in texts if one.strip())


def compare_field(field: Field, gold: Sequence[str], config: FieldConfig) -> FieldOutcome:
    """What of a field is right; values are equal when they are normalised to the same."""
    true = dict.fromkeys(_comparable(one, field.kind) for one in gold)
    found = [one.value for one in field.values]
    candidates = field.candidates if config.many else field.candidates[:1]
    return FieldOutcome(
        field.name,
        right=tuple(one for one in found if one in true),
        extra=tuple(one for one in found if one not in true),
        lost=tuple(one for one in true if one not in found),
        ranked=tuple((one.confidence, one.value in true) for one in candidates),
    )


def measure_fields(documents: Sequence[Sequence[FieldOutcome]]) -> ReviewFigures:
    """Figures of documents, each with the outcomes of its fields."""
    by_name: dict[str, list[FieldOutcome]] = {}
    for outcome in (one for outcomes in documents for one in outcomes):
        by_name.setdefault(outcome.name, []).append(outcome)
    fields = {name: (_sum(outcomes), _curve(outcomes)) for name, outcomes in by_name.items()}
    counted = [scores.f1 for scores, _ in fields.values() if scores.num_found + scores.num_true]
    return ReviewFigures(
        num_documents=len(documents),
        fields=fields,
        micro=_sum([one for outcomes in documents for one in outcomes]),
        macro_f1=float(np.mean(counted)) if counted else 0.0,
        interval=_interval(documents),
    )


def _comparable(gold: str, kind: Kind) -> str:
    # A true amount nobody can read is still lost, under its own text.
    return normalize_value(gold, kind) or normalize_text(gold) or gold


def _sum(outcomes: Iterable[FieldOutcome]) -> Scores:
    counts = np.array([outcome.counts for outcome in outcomes], int).reshape(-1, 3).sum(axis=0)
    return Scores(*map(int, counts))


def _curve(outcomes: list[FieldOutcome]) -> Curve:
    ranked = [one for outcome in outcomes for one in outcome.ranked]
    return measure_curve(ranked, num_true=_sum(outcomes).num_true, recalls=RECALLS)


def _interval(documents: Sequence[Sequence[FieldOutcome]]) -> tuple[float, float]:
    counts = np.zeros((len(documents), 3))
    for index, outcomes in enumerate(documents):
        counts[index] = np.sum([outcome.counts for outcome in outcomes], axis=0) if outcomes else 0

    def micro_f1(weights: np.ndarray) -> np.ndarray:
        right, found, true = (weights @ counts).T
        return 2 * right / np.maximum(found + true, 1)

    return bootstrap_interval(micro_f1, len(documents))


def _as_json(scores: Scores) -> dict[str, object]:
    names = ("precision", "recall", "f1", "num_right", "num_found", "num_true")
    return {name: getattr(scores, name) for name in names}
