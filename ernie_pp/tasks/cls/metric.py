"""Classification figures: accuracy, precision, recall, F1, per label and averaged, and the confusion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ernie_pp.tasks.bootstrap import bootstrap_interval

AVERAGES = ("micro", "macro", "weighted")
SINGLE_NAMES = ("accuracy", *(f"{a}_{m}" for a in AVERAGES for m in ("precision", "recall", "f1")))
MULTI_NAMES = ("exact_match", *SINGLE_NAMES[1:])


@dataclass(frozen=True)
class LabelFigures:
    """Precision, recall and F1 of one label; `support` is the number of rows that truly have it."""

    label: str
    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class Evaluation:
    """All figures of one evaluation. `confusion[i][j]`: rows of label i given label j (single-label only)."""

    num_rows: int
    values: dict[str, float]
    headline: str
    interval: tuple[float, float]
    per_label: tuple[LabelFigures, ...]
    confusion: tuple[tuple[int, ...], ...] | None

    def to_json(self) -> dict:
        """Plain values for metrics.json."""
        return {
            "num_rows": self.num_rows,
            **self.values,
            "headline": self.headline,
            "interval_95": list(self.interval),
            "per_label": [vars(figures) for figures in self.per_label],
            "confusion": self.confusion,
        }


def metric_names(*, multi_label: bool) -> tuple[str, ...]:
    """The names `train.best_metric` may have."""
    return MULTI_NAMES if multi_label else SINGLE_NAMES


def headline_metric(*, multi_label: bool) -> str:
    """The figure that is meant when none is named."""
    return "micro_f1" if multi_label else "accuracy"


def measure(
    chosen: np.ndarray, targets: np.ndarray, labels: tuple[str, ...], *, multi_label: bool, headline: str, seed: int = 0
) -> Evaluation:
    """Figures of the labels given, `chosen`, against the true ones, `targets`: both bool [rows, labels]."""
    hits, given, true = chosen & targets, chosen, targets
    indicators = np.concatenate([hits, given, true], axis=1).astype(np.float64)
    right = (chosen == targets).all(axis=1).astype(np.float64)

    def figures(weights: np.ndarray) -> dict[str, np.ndarray]:
        counts = (weights @ indicators).reshape(len(weights), 3, len(labels))
        return _averages(counts, multi_label) | {_row_name(multi_label): weights @ right / weights.sum(axis=1)}

    values = {name: float(value[0]) for name, value in figures(np.ones((1, len(right)))).items()}
    interval = bootstrap_interval(lambda weights: figures(weights)[headline], len(right), seed=seed)
    return Evaluation(
        num_rows=len(right),
        values={name: values[name] for name in metric_names(multi_label=multi_label)},
        headline=headline,
        interval=interval,
        per_label=_per_label(indicators.sum(axis=0).reshape(3, len(labels)), labels),
        confusion=None if multi_label else _confusion(chosen, targets),
    )


def _row_name(multi_label: bool) -> str:
    return "exact_match" if multi_label else "accuracy"


def _averages(counts: np.ndarray, multi_label: bool) -> dict[str, np.ndarray]:
    """Averaged figures of counts [resamples, 3 (hits, given, true), labels].

    A label that is neither given nor true in any row is left out of the macro average of single-label problems, as
    scikit-learn leaves it out; for multi-label it counts 0, as there.
    """
    seen = np.ones_like(counts[:, 0], dtype=bool) if multi_label else (counts[:, 1] + counts[:, 2]) > 0
    values = {}
    micro = _precision_recall_f1(counts.sum(axis=2))
    each = _precision_recall_f1(counts)
    support = counts[:, 2]
    for name, total, label_values in zip(("precision", "recall", "f1"), micro, each, strict=True):
        values[f"micro_{name}"] = total
        values[f"macro_{name}"] = (label_values * seen).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
        values[f"weighted_{name}"] = _divide((label_values * support).sum(axis=1), support.sum(axis=1))
    return values


def _precision_recall_f1(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    hits, given, true = counts[:, 0], counts[:, 1], counts[:, 2]
    return _divide(hits, given), _divide(hits, true), _divide(2 * hits, given + true)


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """0 where nothing was given or true, as scikit-learn's zero_division=0."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def _per_label(counts: np.ndarray, labels: tuple[str, ...]) -> tuple[LabelFigures, ...]:
    precision, recall, f1 = _precision_recall_f1(counts[None])
    rows = zip(labels, precision[0], recall[0], f1[0], counts[2], strict=True)
    return tuple(LabelFigures(name, float(p), float(r), float(f), int(support)) for name, p, r, f, support in rows)


def _confusion(chosen: np.ndarray, targets: np.ndarray) -> tuple[tuple[int, ...], ...]:
    table = targets.astype(np.int64).T @ chosen.astype(np.int64)
    return tuple(tuple(map(int, row)) for row in table)
