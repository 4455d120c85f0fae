"""Fewer points of a long line without losing its shape."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

Points = Sequence[tuple[float, float]]
# One part of the plot's width in view box units, roughly.
_NUM_PARTS = 250
_LEAST_FOR_MEAN = 60
# A line that goes up and down so many times its own height hides its trend.
_NOISE = 4.0


def thin(points: Points) -> Points:
    """The line with the lowest and highest point of each stretch, and both ends."""
    if len(points) <= 2 * _NUM_PARTS:
        return points
    kept = {0, len(points) - 1}
    bounds = [part * len(points) // _NUM_PARTS for part in range(_NUM_PARTS + 1)]
    for start, end in pairwise(bounds):
        kept.add(min(range(start, end), key=lambda index: points[index][1]))
        kept.add(max(range(start, end), key=lambda index: points[index][1]))
    return [points[index] for index in sorted(kept)]


def smooth(points: Points) -> Points:
    """The moving mean of a noisy line; of a short or calm one nothing."""
    values = [value for _, value in points]
    if len(values) < _LEAST_FOR_MEAN or not _is_noisy(values):
        return ()
    half = max(len(values) // 30, 2)
    sums = [0.0, *accumulate(values)]
    means = []
    for index, (step, _) in enumerate(points):
        start, end = max(index - half, 0), min(index + half + 1, len(values))
        means.append((step, (sums[end] - sums[start]) / (end - start)))
    return means


def _is_noisy(values: Sequence[float]) -> bool:
    way = sum(abs(after - before) for before, after in pairwise(values))
    return way > _NOISE * (max(values) - min(values))
