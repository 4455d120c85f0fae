"""The probability from which on an answer is given, tuned on rows whose truth is known."""

from __future__ import annotations

import numpy as np


def best_threshold(scores: np.ndarray, is_right: np.ndarray, *, num_true: int) -> float:
    """The threshold with the highest F1 for candidates of these scores; the nearest to 0.5 of equally good ones.

    `num_true` counts all that is true, candidates or not; 0.5 where nothing is, or where there is no candidate.
    """
    if num_true == 0 or len(scores) == 0:
        return 0.5
    order = np.argsort(-scores, kind="stable")
    ordered, hits = scores[order], np.cumsum(is_right[order])
    # Cutting after position i takes i + 1 candidates; only cuts between two different scores exist.
    cuts = np.flatnonzero(np.append(ordered[1:] < ordered[:-1], True))
    f1 = 2 * hits[cuts] / (cuts + 1 + num_true)
    below = np.append(ordered, 0.0)[cuts + 1]
    middles = (ordered[cuts] + below) / 2
    best = np.flatnonzero(f1 >= f1.max() - 1e-12)
    return float(middles[best[np.argmin(np.abs(middles[best] - 0.5))]])
