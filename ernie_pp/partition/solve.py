"""The best cut of a stack into stages, or what to change where nothing fits."""

from __future__ import annotations

from ernie_pp.partition.advice import nothing_fits
from ernie_pp.partition.costs import StackCosts
from ernie_pp.partition.cut import Cut, best_cut
from ernie_pp.partition.parts import Parts, Wanted


def solve(costs: StackCosts, wanted: Wanted) -> Cut:
    """The contiguous cut whose slowest stage takes the least time a micro-batch, of those that fit into memory.

    Without virtual stages the cut is the best there is, and of equally fast ones one that needs the least memory;
    `recompute="auto"` lets each stage recompute what costs it the least time, where memory asks for it only.
    ConfigError where nothing fits, with the changes that would help.
    """
    cut = best_cut(Parts(costs, wanted))
    if cut is None:
        raise nothing_fits(costs, wanted)
    return cut
