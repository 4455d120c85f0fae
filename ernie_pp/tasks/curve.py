"""Precision against recall as the threshold of confidence falls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    pairs = sorted(ranked, key=lambda pair: -pair[0])
    if not pairs or num_true == 0:
        return Curve(0.0, dict.fromkeys(recalls))
    scores = np.array([score for score, _ in pairs])
    # Values of one confidence pass together, so only the last of them is a point of the curve.
    last = np.append(np.diff(scores) != 0, True)
    right = np.cumsum([is_true for _, is_true in pairs])[last]
    precision, recall = right / (np.flatnonzero(last) + 1), right / num_true
    area = float(np.sum(np.diff(recall, prepend=0.0) * precision))
    reached = {wanted: precision[recall >= wanted - 1e-12] for wanted in recalls}
    return Curve(area, {wanted: float(values.max()) if len(values) else None for wanted, values in reached.items()})
