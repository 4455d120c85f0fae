"""The best cut of a stack into stages, or what to change where nothing fits."""

from __future__ import annotations

from ernie_pp.partition.advice import nothing_fits
from ernie_pp.partition.costs import StackCosts
from ernie_pp.partition.cut import Cut, best_cut
from ernie_pp.partition.order import Pipeline, Schedule
from ernie_pp.partition.parts import Parts, Recompute, Wanted


def solve(
    costs: StackCosts,
    *,
    num_stages: int,
    num_micro_batches: int,
    memory_bytes: int | None = None,
    recompute: Recompute = "none",
    schedule: Schedule = "1f1b",
    virtual_stages: int = 1,
) -> Cut:
    """The contiguous cut whose slowest stage takes the least time a micro-batch, of those that fit into memory.

    Without virtual stages the cut is the best there is, and of equally fast ones one that needs the least memory;
    `recompute="auto"` lets each stage recompute what costs it the least time, where memory asks for it only.
    ConfigError where nothing fits, with the changes that would help.
    """
    return solve_wanted(
        costs, Wanted(Pipeline(num_stages, num_micro_batches, schedule, virtual_stages), memory_bytes, recompute)
    )


def solve_wanted(costs: StackCosts, wanted: Wanted) -> Cut:
    """As `solve`, from one record."""
    cut = best_cut(Parts(costs, wanted))
    if cut is None:
        raise nothing_fits(costs, wanted)
    return cut
