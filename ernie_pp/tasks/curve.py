"""Precision against recall as the threshold of confidence falls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Curve:
    """What answers of a kind could be at other thresholds than their own."""

    average_precision: float  # area under the curve as steps, no interpolation; recall never reached counts 0
    precision_at: Mapping[float, float | None]  # by recall; None: no threshold reaches so much

    def to_json(self) -> dict[str, object]:
        """The figures as plain values."""
        at = {f"precision_at_recall_{100 * recall:.0f}": value for recall, value in self.precision_at.items()}
        return {"aupr": self.average_precision, **at}


def measure_curve(ranked: Iterable[tuple[float, bool]], *, num_true: int, recalls: Sequence[float]) -> Curve:
    """The curve of (confidence, is it true); `num_true` counts what was never seen too."""
    pairs = list(ranked)
    if not pairs or num_true == 0:
        return Curve(0.0, dict.fromkeys(recalls))
    scores, is_true = np.array([score for score, _ in pairs]), np.array([bool(truth) for _, truth in pairs])
    return weighted_curve(scores, is_true, recalls=recalls)(np.ones(len(pairs)), float(num_true))


def weighted_curve(
    scores: np.ndarray, is_true: np.ndarray, *, recalls: Sequence[float]
) -> Callable[[np.ndarray, float], Curve]:
    """The curve as a function of the weight of each answer and of all that is true, for drawing rows anew."""
    order = np.argsort(-scores, kind="stable")
    # Values of one confidence pass together, so only the last of them is a point of the curve.
    last = np.append(np.diff(scores[order]) != 0, True)

    def curve(weights: np.ndarray, true_weight: float) -> Curve:
        ordered = weights[order]
        given, right = np.cumsum(ordered)[last], np.cumsum(ordered * is_true[order])[last]
        precision, recall = right / np.maximum(given, 1e-12), right / max(true_weight, 1e-12)
        area = float(np.sum(np.diff(recall, prepend=0.0) * precision))
        reached = {wanted: precision[recall >= wanted - 1e-12] for wanted in recalls}
        return Curve(area, {wanted: float(values.max()) if len(values) else None for wanted, values in reached.items()})

    return curve
