"""Bootstrap intervals: how much a figure would move with other rows of the same kind.

Efron's percentile bootstrap (B. Efron, Annals of Statistics 7, 1979) over rows, as weights instead of copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

NUM_RESAMPLES = 1000
# Weights are made a few resamples at a time, so that memory stays below this many numbers.
MAX_WEIGHTS = 4_000_000


def bootstrap_interval(
    figure: Callable[[np.ndarray], np.ndarray], num_rows: int, *, seed: int = 0, share: float = 0.95
) -> tuple[float, float]:
    """Lower and upper end of the interval that holds `share` of the resampled figures.

    `figure` takes weights [resamples, rows] (how often each row was drawn) and returns one number a resample.
    """
    if num_rows == 0:
        return (float("nan"), float("nan"))
    values = np.concatenate([figure(weights) for weights in _draw(num_rows, np.random.default_rng(seed))])
    low, high = np.quantile(values, [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)


def _draw(num_rows: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    size = max(1, min(NUM_RESAMPLES, MAX_WEIGHTS // num_rows))
    for start in range(0, NUM_RESAMPLES, size):
        count = min(size, NUM_RESAMPLES - start)
        drawn = rng.integers(0, num_rows, size=(count, num_rows))
        rows = np.arange(count)[:, None] * num_rows
        counts = np.bincount((drawn + rows).ravel(), minlength=count * num_rows)
        yield counts.reshape(count, num_rows).astype(np.float64)
