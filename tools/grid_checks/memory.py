"""What recomputation and stages save at long length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tools.grid_checks.job import Job, run
from tools.grid_checks.table import Line

# Long rows: what a block keeps for its backward pass is most of the memory.
PLAIN = Job(num_layers=12, width=384, rows=1, length=2048, micro_batches=2, num_steps=2)
BLOCKS = tuple(range(1, 13))
MOST_RECOMPUTED, MOST_CUT = 1 / 2, 1 / 3


def check() -> Iterator[Line]:
    """Growth of the largest rank against that of one process that keeps everything."""
    plain = max(run(PLAIN, threads=2).growth_bytes)
    recomputed = max(run(replace(PLAIN, recomputed=BLOCKS), threads=2).growth_bytes)
    cut = replace(PLAIN, stages=2, recomputed=BLOCKS).with_cut(0, 7, 14)
    both = max(run(cut, threads=1).growth_bytes)
    gib = plain / 2**30
    yield Line(f"recomputed, of {gib:.2f} GiB growth (12 x 384, 2,048 tokens)", recomputed / plain, MOST_RECOMPUTED)
    yield Line("2 stages and recomputed, of the same", both / plain, MOST_CUT)
