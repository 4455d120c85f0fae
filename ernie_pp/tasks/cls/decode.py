"""From logits to labels and probabilities, and the thresholds that decide. numpy only: serving uses it too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks.thresholds import best_threshold


@dataclass(frozen=True)
class DecodeSettings:
    """What turns logits into labels; travels in the bundle."""

    labels: tuple[str, ...]
    multi_label: bool
    thresholds: tuple[float, ...]  # one a label; not used for single-label

    def to_json(self) -> dict:
        """Plain values for the bundle's manifest."""
        return {"labels": list(self.labels), "multi_label": self.multi_label, "thresholds": list(self.thresholds)}

    @property
    def num_outputs(self) -> int:
        """Of the head: one a label."""
        return len(self.labels)

    def check_output(self, shape: tuple[int, ...], length: int) -> None:
        """ValueError unless logits of this shape, for rows of `length` tokens, are those of these labels."""
        if shape[1:] != (len(self.labels),):
            raise ValueError(f"gives {shape[1:]} numbers a text for {len(self.labels)} labels")

    @classmethod
    def from_json(cls, values: Mapping) -> DecodeSettings:
        """The inverse of `to_json`; ValueError for values that it cannot have given."""
        if not isinstance(values, Mapping) or not values.keys() >= {"labels", "multi_label", "thresholds"}:
            raise ValueError("decode lacks labels, multi_label or thresholds")
        labels, multi_label, thresholds = values["labels"], values["multi_label"], values["thresholds"]
        if not isinstance(labels, list) or not labels or not all(isinstance(label, str) for label in labels):
            raise ValueError(f"decode.labels is {labels!r}, expected a list of texts")
        if len(set(labels)) < len(labels):
            raise ValueError("decode.labels names one label twice")
        if type(multi_label) is not bool:
            raise ValueError(f"decode.multi_label is {multi_label!r}, expected true or false")
        if not isinstance(thresholds, list) or len(thresholds) != len(labels):
            raise ValueError(f"decode.thresholds is {thresholds!r}, expected {len(labels)} numbers")
        if not all(type(one) in (int, float) and math.isfinite(one) for one in thresholds):
            raise ValueError(f"decode.thresholds is {thresholds!r}, expected numbers")
        return cls(tuple(labels), multi_label, tuple(map(float, thresholds)))


@dataclass(frozen=True)
class Prediction:
    """Labels of one text (exactly one unless multi-label) and the probability of every label, in label order."""

    labels: tuple[str, ...]
    probabilities: dict[str, float]
    multi_label: bool = False

    def to_fields(self) -> dict[str, object]:
        """The fields `predict` adds to a row."""
        given: object = list(self.labels) if self.multi_label else self.labels[0]
        return {"prediction": given, "probabilities": {name: round(p, 6) for name, p in self.probabilities.items()}}


def probabilities(logits: np.ndarray, *, multi_label: bool) -> np.ndarray:
    """float64 [rows, labels]: softmax over the labels, or one sigmoid a label."""
    logits = logits.astype(np.float64)
    if multi_label:
        # tanh form: exp of a large number never overflows.
        return 0.5 * (1.0 + np.tanh(0.5 * logits))
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exponents / exponents.sum(axis=1, keepdims=True)


def choose_labels(logits: np.ndarray, settings: DecodeSettings) -> np.ndarray:
    """bool [rows, labels]: the labels given; exactly one a row unless multi-label."""
    if settings.multi_label:
        return probabilities(logits, multi_label=True) >= np.asarray(settings.thresholds)
    return np.arange(logits.shape[1]) == logits.argmax(axis=1)[:, None]


def condense(logits: np.ndarray, rows: TokenRows, settings: DecodeSettings | None = None) -> Sequence[np.ndarray]:
    """The logits [labels] of each row: few enough to be kept."""
    return list(logits)


def for_bundle(settings: DecodeSettings, weights: Mapping[str, np.ndarray]) -> DecodeSettings:
    """The settings of an exported program: it gives all that they need."""
    return settings


def decide(
    logits: np.ndarray, rows: TokenRows, settings: DecodeSettings, *, margin: float = 0.0
) -> list[frozenset[int]]:
    """The numbers of the labels each row of logits is given; thresholds are `margin` higher."""
    shifted = replace(settings, thresholds=tuple(threshold + margin for threshold in settings.thresholds))
    return [frozenset(np.flatnonzero(row).tolist()) for row in choose_labels(logits, shifted)]


def decode(
    answers: Sequence[np.ndarray], rows: TokenRows, texts: Sequence[str], settings: DecodeSettings
) -> list[Prediction]:
    """One Prediction a text, which is one row."""
    logits = np.stack(answers) if len(answers) else np.empty((0, len(settings.labels)), np.float32)
    table = probabilities(logits, multi_label=settings.multi_label)
    chosen = choose_labels(logits, settings)
    return [
        Prediction(
            tuple(name for name, given in zip(settings.labels, row_chosen, strict=True) if given),
            dict(zip(settings.labels, map(float, row), strict=True)),
            settings.multi_label,
        )
        for row, row_chosen in zip(table, chosen, strict=True)
    ]


def tune_thresholds(probs: np.ndarray, targets: np.ndarray, *, per_label: bool) -> tuple[float, ...]:
    """Thresholds with the highest F1 on these rows: one a label, or one for all (micro F1).

    `probs` and `targets` are [rows, labels]. Of equally good thresholds the nearest to 0.5 is taken; a label without
    a positive row keeps 0.5.
    """
    if not per_label:
        return (best_threshold(probs.ravel(), targets.ravel(), num_true=int(targets.sum())),) * probs.shape[1]
    return tuple(
        best_threshold(probs[:, label], targets[:, label], num_true=int(targets[:, label].sum()))
        for label in range(probs.shape[1])
    )
