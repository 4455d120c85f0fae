"""What all ranks of a step tell each other after their rounds, in one message."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ernie_pp.parallel.stopwatch import RankTimes
from ernie_pp.parallel.world import World

_NUM_TIMES = len(RankTimes().to_numbers())


@dataclass(frozen=True)
class StepSum:
    """The same on every rank: losses of all micro-batches, the gradient's norm, and each rank's times and memory."""

    losses: np.ndarray
    norm: float
    rank_times: tuple[RankTimes, ...]
    peak_bytes: tuple[int, ...]

    @property
    def is_finite(self) -> bool:
        """Whether every loss and the norm are numbers."""
        return bool(np.isfinite(self.losses).all()) and math.isfinite(self.norm)


def sum_step(losses: np.ndarray, square: float, *, times: RankTimes, peak_bytes: int, world: World) -> StepSum:
    """Sum what the ranks know; `square` is that of the gradients counted here."""
    own = np.zeros((world.grid.num_ranks, _NUM_TIMES + 1))
    own[world.rank] = [*times.to_numbers(), peak_bytes]
    total = world.control.sum(np.concatenate([losses, [square], own.ravel()]))
    ranks = total[len(losses) + 1 :].reshape(own.shape)
    all_square = float(total[len(losses)])
    return StepSum(
        total[: len(losses)],
        math.sqrt(all_square) if all_square >= 0 else math.nan,
        tuple(RankTimes(*row[:_NUM_TIMES].tolist()) for row in ranks),
        tuple(int(row[_NUM_TIMES]) for row in ranks),
    )
