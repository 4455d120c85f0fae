"""Losses, weights and answers of every grid against those of one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from tools.grid_checks.job import Job, Result, run
from tools.grid_checks.table import Line

TOLERANCE = 1e-5
BASE = Job(num_layers=6, width=64, vocab_size=500, rows=3, length=24, micro_batches=8, uneven=True, keeps_weights=True)
GRIDS = {
    "2x1": replace(BASE, stages=2).with_cut(0, 4, 8),
    "1x2": replace(BASE, replicas=2),
    "2x2": replace(BASE, stages=2, replicas=2).with_cut(0, 4, 8),
    "3x1": replace(BASE, stages=3).with_cut(0, 3, 5, 8),
    "4x1": replace(BASE, stages=4).with_cut(0, 2, 4, 6, 8),
    "2x2 recomputed": replace(BASE, stages=2, replicas=2, recomputed=(1, 2, 3, 4, 5, 6)).with_cut(0, 4, 8),
    "4x1 interleaved": replace(BASE, stages=4, virtual_stages=2).with_cut(0, 1, 2, 3, 4, 5, 6, 7, 8),
}


def check() -> Iterator[Line]:
    """5 steps in fp32 without dropout, lengths that differ; then dropout with and without recomputation."""
    alone = run(BASE, threads=1)
    for name, job in GRIDS.items():
        found = run(job, threads=1)
        yield Line(f"{name}: losses of 5 steps, relative", _losses_apart(alone, found), TOLERANCE)
        yield Line(f"{name}: every weight after 5 steps, relative", _weights_apart(alone, found), TOLERANCE)
        yield Line(f"{name}: logits of new rows, relative", _logits_apart(alone, found), TOLERANCE)
    dropping = replace(BASE, dropout=0.2)
    recomputed = replace(dropping, recomputed=(1, 2, 3, 4, 5, 6))
    kept, again = run(dropping, threads=1), run(recomputed, threads=1)
    difference = max(_weights_apart(kept, again), _logits_apart(kept, again))
    yield Line("dropout on, recomputed: every weight and logit", difference, 0.0)


def _losses_apart(expected: Result, found: Result) -> float:
    return float(np.max(np.abs(np.subtract(found.losses, expected.losses)) / np.abs(expected.losses)))


def _weights_apart(expected: Result, found: Result) -> float:
    # Softmax does not see the keys' biases: their gradient is rounding, which Adam makes large.
    names = [name for name in expected.arrays if not name.startswith("logits.")]
    assert "classifier.weight" in names, "the head is compared too"
    return _arrays_apart(expected, found, [name for name in names if not name.endswith("k_proj.bias")])


def _logits_apart(expected: Result, found: Result) -> float:
    return _arrays_apart(expected, found, [name for name in expected.arrays if name.startswith("logits.")])


def _arrays_apart(expected: Result, found: Result, names: Sequence[str]) -> float:
    """The largest difference, relative to the largest value of its array."""
    assert expected.arrays.keys() == found.arrays.keys()
    return max(_apart(expected.arrays[name], found.arrays[name]) for name in names)


def _apart(expected: np.ndarray, found: np.ndarray) -> float:
    largest = max(float(np.abs(expected).max()), 1e-12)
    return float(np.abs(expected.astype("f8") - found).max()) / largest
