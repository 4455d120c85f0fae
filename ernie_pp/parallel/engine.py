"""What a training engine offers, whatever processes it runs in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ernie_pp.data.batches import MicroBatch
from ernie_pp.parallel.stopwatch import RankTimes


@dataclass(frozen=True)
class StepResult:
    """What one step did. `is_skipped`: a value was not finite, and the weights were left as they were."""

    loss: float
    grad_norm: float
    learning_rate: float
    num_rows: int
    num_tokens: int  # real tokens, padding not counted
    is_skipped: bool = False
    rank_times: tuple[RankTimes, ...] = field(default=(), compare=False)  # by rank
    peak_bytes: tuple[int, ...] = field(default=(), compare=False)  # most memory held so far, by rank


@dataclass(frozen=True)
class EngineState:
    """All that training goes on from, by canonical names; the step is the loop's own."""

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

    def train_step(self, micro_batches: Sequence[MicroBatch], *, step: int) -> StepResult:
        """One optimizer update from the gradient of the mean loss over all rows; steps count from 0."""
        ...

    def state(self) -> EngineState:
        """A copy of the state."""
        ...

    def load_state(self, state: EngineState) -> None:
        """Go on from a state that `state` gave."""
        ...
