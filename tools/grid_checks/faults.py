"""A stage that takes very long, and a rank that dies."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ernie_pp.errors import RanksFailed
from ernie_pp.parallel.rank_record import read_record
from tools.grid_checks.job import Job, run, run_in
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
    job = replace(_SMALL, stages=2, replicas=2, num_steps=100_000, fails_at=20).with_cut(0, 2, 4)
    told, code, seconds = "", 0, float("inf")
    with tempfile.TemporaryDirectory(prefix="check_grid-") as folder:
        try:
            run_in(Path(folder), job, threads=1)
        except RanksFailed as error:
            told, code = "\n".join(error.messages), error.exit_code
            seconds = _seconds_since_failure(Path(folder), rank=job.stages * job.replicas - 1)
        left = subprocess.run(["pgrep", "-f", folder], capture_output=True, text=True).stdout.split()
    is_first = told.startswith("Traceback") and "made to fail by the check" in told.partition("\nTraceback")[0]
    yield Line("a rank that raises: its traceback is told first", float(is_first), 1, at_most=False)
    yield Line("a rank that raises: exit code is not 0", float(code != 0), 1, at_most=False)
    yield Line("a rank that raises: processes left", len(left), 0)
    yield Line("a rank that raises: all have ended after", seconds, MOST_TO_END_S, unit=" s")


def _seconds_since_failure(folder: Path, *, rank: int) -> float:
    record = read_record(folder, rank)
    return float("inf") if record is None else time.monotonic() - record.time
