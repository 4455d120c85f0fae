"""What a step is made of: the parts that the engine is given, and what it asks of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import paddle

from ernie_pp.models.losses import Loss
from ernie_pp.parallel.part import Autocast
from ernie_pp.parallel.replicas import GradientSum
from ernie_pp.parallel.rounds import Rounds
from ernie_pp.parallel.stopwatch import Stopwatch


class Objective(Protocol):
    """The step's loss, one micro-batch at a time."""

    @property
    def loss(self) -> Loss: ...
    @property
    def num_passes(self) -> int: ...
    def share(
        self, logits: paddle.Tensor, targets: paddle.Tensor, *, weight: float, num_rows: int
    ) -> paddle.Tensor: ...


class Updater(Protocol):
    """The optimizer of the parameters here, as far as a step needs it."""

    @property
    def parameters(self) -> Mapping[str, paddle.Tensor]: ...
    @property
    def owned(self) -> Collection[str]: ...
    def gradient_square(self) -> float: ...
    def clip_factor(self, norm: float) -> float: ...
    def scale_gradients(self, factor: float) -> None: ...
    def step(self, learning_rate: float) -> None: ...
    def clear_gradients(self) -> None: ...
    def first_bad_gradient(self) -> str | None: ...
    def state(self) -> dict[str, np.ndarray]: ...
    def load_state(self, state: Mapping[str, np.ndarray]) -> None: ...


class Casting(Autocast, Protocol):
    """The number types of the forward pass, and the scale of the loss."""

    scale: float

    def record(self, *, is_finite: bool) -> bool: ...
    def state(self) -> dict[str, float]: ...
    def load_state(self, state: dict[str, float]) -> None: ...


class Attack(Protocol):
    """Moves word embeddings against the model for a further round, as FGM does."""

    @property
    def table(self) -> paddle.Tensor | None: ...
    def moved(self, gradient: paddle.Tensor) -> AbstractContextManager[None]: ...


@dataclass(frozen=True)
class StepParts:
    """What a step is made of."""

    objective: Objective
    updater: Updater
    casting: Casting
    learning_rate: Callable[[int], float]
    rounds: Rounds
    replicas: GradientSum
    stopwatch: Stopwatch  # the one that `rounds` tell
    attack: Attack | None = None
    owners: Mapping[str, int] | None = None  # the replica that updates each parameter; None: every replica, all
