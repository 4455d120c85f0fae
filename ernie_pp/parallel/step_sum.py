"""What all ranks of a step tell each other after their rounds, in one message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ernie_pp.parallel.stopwatch import RankTimes
from ernie_pp.parallel.world import World


@dataclass(frozen=True)
class RankFigures:
    """What a rank says of itself: its times, the most memory it has held, the stop signal it was given (0: none)."""

    times: RankTimes = field(default_factory=RankTimes)
    peak_bytes: int = 0
    stop_signal: int = 0

    def to_numbers(self) -> list[float]:
        """All of it as numbers."""
        return [*self.times.to_numbers(), self.peak_bytes, self.stop_signal]

    @staticmethod
    def from_numbers(numbers: Sequence[float]) -> RankFigures:
        """What `to_numbers` gave."""
        *times, peak_bytes, stop_signal = numbers
        return RankFigures(RankTimes(*times), int(peak_bytes), int(stop_signal))


@dataclass(frozen=True)
class StepSum:
    """The same on every rank: losses of all micro-batches, the gradient's norm, and each rank's figures."""

    losses: np.ndarray
    norm: float
    ranks: tuple[RankFigures, ...]

    @property
    def is_finite(self) -> bool:
        """Whether every loss and the norm are numbers."""
        return bool(np.isfinite(self.losses).all()) and math.isfinite(self.norm)

    @property
    def stop_signal(self) -> int:
        """A stop signal that a rank was given; 0: none was."""
        return max(rank.stop_signal for rank in self.ranks)


def sum_step(losses: np.ndarray, square: float, *, own: RankFigures, world: World) -> StepSum:
    """Sum what the ranks know; `square` is that of the gradients counted here."""
    table = np.zeros((world.grid.num_ranks, len(own.to_numbers())))
    table[world.rank] = own.to_numbers()
    total = world.control.sum(np.concatenate([losses, [square], table.ravel()]))
    ranks = total[len(losses) + 1 :].reshape(table.shape).tolist()
    all_square = float(total[len(losses)])
    norm = math.sqrt(all_square) if all_square >= 0 else math.nan
    return StepSum(total[: len(losses)], norm, tuple(map(RankFigures.from_numbers, ranks)))
