"""What a training engine offers, whatever processes it runs in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ernie_pp.data.batches import MicroBatch
from ernie_pp.parallel.stopwatch import RankTimes

StopSignal = Callable[[], int]  # the number of the stop signal that this process was given so far; 0: none


def no_stop() -> int:
    """Nobody was given a stop signal."""
    return 0


@dataclass(frozen=True)
class StepResult:
    """What one step did. `is_skipped`: a value was not finite, and the weights were left as they were."""

    loss: float
    grad_norm: float
    learning_rate: float
    num_rows: int
    num_tokens: int  # real tokens, padding not counted
    is_skipped: bool = False
    stop_signal: int = 0  # the one that some rank was given; 0: none
    rank_times: tuple[RankTimes, ...] = field(default=(), compare=False)  # by rank
    peak_bytes: tuple[int, ...] = field(default=(), compare=False)  # most memory held so far, by rank


@dataclass(frozen=True)
class EngineState:
    """What training goes on from, as far as this rank holds it, by canonical names; the step is the loop's own.

    The replicas of a stage hold the same weights, and unless they share the optimizer state out, the same of that.
    """

    weights: Mapping[str, np.ndarray]
    optimizer: Mapping[str, np.ndarray]
    scalars: Mapping[str, float]


class ForwardPass(Protocol):
    """Computes a model; the micro-batches of a call are the same on every rank."""

    def forward(self, micro_batches: Iterable[MicroBatch]) -> Iterator[np.ndarray]:
        """Float32 logits of each micro-batch in turn, without dropout."""
        ...


class Engine(ForwardPass, Protocol):
    """Trains a model too."""

    def train_step(
        self, micro_batches: Sequence[MicroBatch], *, step: int, stop_signal: StopSignal = no_stop
    ) -> StepResult:
        """One optimizer update from the gradient of the mean loss over all rows; steps count from 0.

        Every rank hears in the result of a `stop_signal` that some rank was given by the end of its passes.
        """
        ...

    def state(self) -> EngineState:
        """A copy of this rank's state."""
        ...

    def load_state(self, state: EngineState) -> None:
        """Go on from a state as `state` gave it: this rank's, whatever the grid was."""
        ...
