"""Times of programs on rows of one shape, taken in turns: what slows the machine meanwhile slows them all."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ernie_pp.export.batches import Batch

_LEAST_S = 0.05  # a shorter call is repeated within its turn


@dataclass(frozen=True)
class Shape:
    """Rows of so many tokens each."""

    rows: int
    length: int


def make_batch(shape: Shape) -> Batch:
    """Rows without padding; the ids are ones that every vocabulary has."""
    ids = np.random.default_rng(0).integers(5, 20, (shape.rows, shape.length))
    return ids, np.zeros_like(ids)


def time_interleaved(runs: Sequence[Callable[..., object]], batch: Batch, *, rounds: int) -> list[float]:
    """Seconds a call of each run: the least of `rounds` turns, after one that only warms up."""
    repeats = [_count_repeats(run, batch) for run in runs]
    best = [float("inf")] * len(runs)
    for _ in range(rounds):
        for index, run in enumerate(runs):
            best[index] = min(best[index], _time(run, batch, repeats[index]))
    return best


def _count_repeats(run: Callable[..., object], batch: Batch) -> int:
    run(*batch)
    return max(1, round(_LEAST_S / max(_time(run, batch, 1), 1e-6)))


def _time(run: Callable[..., object], batch: Batch, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run(*batch)
    return (time.perf_counter() - start) / repeats
