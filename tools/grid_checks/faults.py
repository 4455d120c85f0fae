"""A stage that takes very long, and a rank that dies."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace

from ernie_pp.errors import RanksFailed
from tools.grid_checks.job import RANK, Job, run
from tools.grid_checks.table import Line

LATE_S, MOST_TO_END_S = 90.0, 10.0
_SMALL = Job(num_layers=2, width=32, vocab_size=200, rows=2, length=16, micro_batches=4, num_steps=3)


def check() -> Iterator[Line]:
    """gloo gives up after 30 s; a run does not."""
    for name, job in (
        ("2x1", replace(_SMALL, stages=2).with_cut(0, 2, 4)),
        ("2x2", replace(_SMALL, stages=2, replicas=2).with_cut(0, 2, 4)),
    ):
        longest = max(run(replace(job, late_s=LATE_S), threads=1).step_s)
        yield Line(f"{name}: the run lives through a micro-batch of", longest, LATE_S, at_most=False, unit=" s")
    yield from _check_failure()


def _check_failure() -> Iterator[Line]:
    job = replace(_SMALL, stages=2, replicas=2, num_steps=100000, fails_at=20).with_cut(0, 2, 4)
    start = time.monotonic()
    try:
        run(job, threads=1)
    except RanksFailed as error:
        told = "made to fail by the check" in str(error) and "Traceback" in str(error)
        yield Line("a rank that raises: its traceback is told", float(told), 1, at_most=False)
        yield Line("a rank that raises: exit code is not 0", float(error.exit_code != 0), 1, at_most=False)
    left = subprocess.run(["pgrep", "-f", str(RANK)], capture_output=True, text=True).stdout.split()
    yield Line("a rank that raises: processes left", len(left), 0)
    yield Line("a rank that raises: start, 20 steps and end", time.monotonic() - start, 30 + MOST_TO_END_S, unit=" s")
