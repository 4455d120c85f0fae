"""How near a pipeline comes to what its schedule allows, and what a balanced cut is worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tools.grid_checks.job import Job, run
from tools.grid_checks.plans import plan_for
from tools.grid_checks.table import Line

ROUNDS = 3
LEAST_OF_BOUND, LEAST_GAIN = 0.93, 1.10
# 8 blocks, 384 wide, length 256, 16 micro-batches.
ONE = Job(num_layers=8, width=384, rows=2, length=256, micro_batches=16, num_steps=4)
TWO = replace(ONE, stages=2).with_cut(0, 5, 10)


def check() -> Iterator[Line]:
    """Best of some rounds in turn, each in fresh processes: what else the machine does only slows a round down."""
    alone_s = cut_s = float("inf")
    for _ in range(ROUNDS):
        alone_s = min(alone_s, run(ONE, threads=1).median_s)
        cut_s = min(cut_s, run(TWO, threads=1).median_s)
    stages, count = TWO.stages, TWO.micro_batches
    bound = stages * count / (count + stages - 1)
    yield Line(
        f"2 stages on 2 cores: {alone_s / cut_s:.3f} x one thread, of the bound {bound:.3f}",
        alone_s / cut_s / bound,
        LEAST_OF_BOUND,
        at_most=False,
    )
    yield from _check_cut()


def _check_cut() -> Iterator[Line]:
    """A head of many labels makes the last stage of Fleet's `uniform` cut too heavy."""
    job = replace(ONE, num_layers=6, width=256, num_labels=80_000, rows=32, length=16)
    num_layers = job.num_layers + 2
    middle, best = num_layers // 2, plan_for(replace(job, stages=2)).boundaries
    uniform = replace(job, stages=2).with_cut(0, middle, num_layers)
    solved = uniform.with_cut(*best)
    uniform_s = solved_s = float("inf")
    for _ in range(ROUNDS):
        uniform_s = min(uniform_s, run(uniform, threads=1).median_s)
        solved_s = min(solved_s, run(solved, threads=1).median_s)
    cuts = f"{middle} -> {best[1]} layers on stage 0"
    yield Line(f"balanced cut over uniform, 80,000 labels: {cuts}", uniform_s / solved_s, LEAST_GAIN, at_most=False)
