"""From logits to labels and probabilities, and the thresholds that decide. numpy only: serving uses it too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class DecodeSettings:
    """What turns logits into labels; travels in the bundle."""

    labels: tuple[str, ...]
    multi_label: bool
    thresholds: tuple[float, ...]  # one a label; not used for single-label

    def to_json(self) -> dict:
        """Plain values for the bundle's manifest."""
        return {"labels": list(self.labels), "multi_label": self.multi_label, "thresholds": list(self.thresholds)}

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

    def to_fields(self, *, multi_label: bool) -> dict[str, object]:
        """The fields `predict` adds to a row."""
        given: object = list(self.labels) if multi_label else self.labels[0]
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


def decode(logits: np.ndarray, settings: DecodeSettings) -> list[Prediction]:
    """One Prediction a row of logits [rows, labels]."""
    table = probabilities(logits, multi_label=settings.multi_label)
    chosen = choose_labels(logits, settings)
    return [
        Prediction(
            tuple(name for name, given in zip(settings.labels, row_chosen, strict=True) if given),
            dict(zip(settings.labels, map(float, row), strict=True)),
        )
        for row, row_chosen in zip(table, chosen, strict=True)
    ]


def tune_thresholds(probs: np.ndarray, targets: np.ndarray, *, per_label: bool) -> tuple[float, ...]:
    """Thresholds with the highest F1 on these rows: one a label, or one for all (micro F1).

    `probs` and `targets` are [rows, labels]. Of equally good thresholds the nearest to 0.5 is taken; a label without
    a positive row keeps 0.5.
    """
    if not per_label:
        return (_best_threshold(probs.ravel(), targets.ravel()),) * probs.shape[1]
    return tuple(_best_threshold(probs[:, label], targets[:, label]) for label in range(probs.shape[1]))


def _best_threshold(probs: np.ndarray, targets: np.ndarray) -> float:
    num_positive = targets.sum()
    if num_positive == 0:
        return 0.5
    order = np.argsort(-probs, kind="stable")
    sorted_probs, hits = probs[order], np.cumsum(targets[order])
    # Cutting after position i gives i + 1 rows the label; only cuts between two different probabilities exist.
    cuts = np.flatnonzero(np.append(sorted_probs[1:] < sorted_probs[:-1], True))
    f1 = 2 * hits[cuts] / (cuts + 1 + num_positive)
    below = np.append(sorted_probs, 0.0)[cuts + 1]
    middles = (sorted_probs[cuts] + below) / 2
    best = np.flatnonzero(f1 >= f1.max() - 1e-12)
    return float(middles[best[np.argmin(np.abs(middles[best] - 0.5))]])
