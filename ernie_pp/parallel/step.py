"""The training engine: the gradient of a step from all its micro-batches, checked, then one update.

One process, replicas only, stages only and both differ in three parts: `rounds` (how a micro-batch comes through the
model), `replicas` (the sum of gradients) and `world.control` (a few numbers all ranks must agree on).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import paddle

from ernie_pp.data.batches import MicroBatch
from ernie_pp.models.dropout import DropoutKey
from ernie_pp.models.stack import ErnieStack
from ernie_pp.parallel.engine import EngineState, StepResult
from ernie_pp.parallel.measured import MeasuredStep, gather_step
from ernie_pp.parallel.part import Autocast
from ernie_pp.parallel.peak import peak_memory_bytes
from ernie_pp.parallel.replicas import GradientSum
from ernie_pp.parallel.rounds import Rounds, Work
from ernie_pp.parallel.sharing import forward_together
from ernie_pp.parallel.skipped import SkippedSteps
from ernie_pp.parallel.step_sum import StepSum, sum_step
from ernie_pp.parallel.stopwatch import Span, Stopwatch
from ernie_pp.parallel.transfer import gather_arrays, scatter_arrays
from ernie_pp.parallel.world import World


class Objective(Protocol):
    """The step's loss, one micro-batch at a time."""

    @property
    def loss(self) -> Any: ...
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
    def load_state(self, state: Any) -> None: ...


class Casting(Autocast, Protocol):
    """The number types of the forward pass, and the scale of the loss."""

    scale: float

    def record(self, *, is_finite: bool) -> bool: ...
    def state(self) -> dict[str, float]: ...
    def load_state(self, state: Any) -> None: ...


class Attack(Protocol):
    """Moves word embeddings against the model for a further round, as FGM does."""

    @property
    def table(self) -> paddle.Tensor | None: ...
    def moved(self, gradient: paddle.Tensor) -> AbstractContextManager[Any]: ...


@dataclass(frozen=True)
class StepParts:
    """What a step is made of."""

    objective: Objective
    updater: Updater
    casting: Casting
    learning_rate: Callable[[int], float]
    rounds: Rounds
    replicas: GradientSum
    stopwatch: Stopwatch
    attack: Attack | None = None
    owners: Mapping[str, int] | None = None  # the replica that updates each parameter; None: every replica, all


class StepEngine:
    """Trains the layers that `stack` keeps here, together with the other ranks of `world`."""

    def __init__(self, stack: ErnieStack, parts: StepParts, *, seed: int, world: World) -> None:
        self.stack, self.parts, self.seed, self.world = stack, parts, seed, world
        self.skipped = SkippedSteps(world.control)
        self._shown: tuple[int, int, list[Span]] = (0, 0, [])  # rows, step, spans: the last of the largest steps

    def train_step(self, micro_batches: Sequence[MicroBatch], *, step: int) -> StepResult:
        """One update from the mean loss over all rows; every rank is given all micro-batches of the step."""
        updater = self.parts.updater
        self.parts.stopwatch.start()
        losses = self._accumulate(micro_batches, step=step, first_pass=0)
        if self.parts.attack is not None:
            self._attack(self.parts.attack, micro_batches, step=step)
        self.parts.replicas.reduce(list(updater.parameters.values()))
        # The replicas of a stage now have the same gradients: one of them counts.
        scale = self.parts.casting.scale
        square = updater.gradient_square() / scale**2 if self.world.replica == 0 else 0.0
        times = self.parts.stopwatch.times()
        total = sum_step(
            losses, square, times=times, peak_bytes=peak_memory_bytes(is_cpu=self.world.is_cpu), world=self.world
        )
        self._update(total, micro_batches, step=step)
        self._note(micro_batches, step=step)
        return self._result(total, micro_batches, step=step)

    def measured_step(self) -> MeasuredStep | None:
        """The last of the largest steps as it was, on rank 0; None on the others."""
        _, step, spans = self._shown
        return gather_step(step, spans, self.world)

    def forward(self, micro_batches: Iterable[MicroBatch]) -> Iterator[np.ndarray]:
        """Float32 logits [rows, ...] of each micro-batch, in turn, on every rank."""
        return forward_together(self.parts.rounds, micro_batches, self.world)

    def weights(self) -> dict[str, np.ndarray]:
        """All weights of the model on rank 0; nothing on the others."""
        return gather_arrays(self.stack.state(), self.world)

    def load_weights(self, weights: Mapping[str, np.ndarray]) -> None:
        """Set the weights to those that rank 0 gives."""
        self.stack.load_state(scatter_arrays(weights, self.stack.canonical_parameters(), self.world))

    def state(self) -> EngineState:
        """A copy of weights, optimizer and loss scale; arrays on rank 0 only."""
        optimizer = gather_arrays(self.parts.updater.state(), self.world)
        return EngineState(self.weights(), optimizer, self.parts.casting.state())

    def load_state(self, state: EngineState) -> None:
        """Go on from a state that `state` gave; arrays are taken from rank 0."""
        self.load_weights(state.weights)
        arrays = scatter_arrays(state.optimizer, self.parts.updater.owned, self.world, is_wanted=_belongs_to)
        self.parts.updater.load_state(arrays)
        self.parts.casting.load_state(state.scalars)

    def _update(self, total: StepSum, micro_batches: Sequence[MicroBatch], *, step: int) -> None:
        """Change the weights, or skip the step on all ranks."""
        updater, casting = self.parts.updater, self.parts.casting
        try:
            if total.is_finite:
                updater.scale_gradients(updater.clip_factor(total.norm) / casting.scale)
                updater.step(self.parts.learning_rate(step))
                if self.parts.owners is not None:
                    self.parts.replicas.spread(updater.parameters, self.parts.owners)
            could_mend = casting.record(is_finite=total.is_finite)
            self.skipped.record(step, micro_batches, total, could_mend=could_mend, gradients=updater)
        finally:
            updater.clear_gradients()

    def _result(self, total: StepSum, micro_batches: Sequence[MicroBatch], *, step: int) -> StepResult:
        return StepResult(
            float(total.losses.sum()),
            total.norm,
            self.parts.learning_rate(step),
            sum(len(batch.input_ids) for batch in micro_batches),
            sum(self._count_tokens(batch) for batch in micro_batches),
            not total.is_finite,
            total.rank_times,
            total.peak_bytes,
        )

    def _note(self, micro_batches: Sequence[MicroBatch], *, step: int) -> None:
        num_rows = sum(len(batch.input_ids) for batch in micro_batches)
        if num_rows >= self._shown[0]:
            self._shown = (num_rows, step, self.parts.stopwatch.spans)

    def _accumulate(self, micro_batches: Sequence[MicroBatch], *, step: int, first_pass: int) -> np.ndarray:
        """Add the gradients of this replica's micro-batches; the losses known here, at their places in the step."""
        num_passes, replicas = self.parts.objective.num_passes, self.world.grid.replicas
        mine = [
            index for index, batch in enumerate(micro_batches)
            if index % replicas == self.world.replica and len(batch.input_ids)
        ]  # fmt: skip
        keys = [DropoutKey(self.seed, step, index, first_pass) for index in range(len(micro_batches))]
        work = [Work(micro_batches[i], tuple(keys[i].plus(n) for n in range(num_passes))) for i in mine]
        losses = np.zeros(len(micro_batches))
        losses[mine] = self.parts.rounds.accumulate(work, self._loss_of(micro_batches), scale=self.parts.casting.scale)
        return losses

    def _loss_of(self, micro_batches: Sequence[MicroBatch]) -> Callable[[paddle.Tensor, MicroBatch], paddle.Tensor]:
        objective = self.parts.objective
        weight = sum(objective.loss.weight(_targets(batch)) for batch in micro_batches)
        num_rows = sum(len(batch.input_ids) for batch in micro_batches)

        def loss_of(logits: paddle.Tensor, batch: MicroBatch) -> paddle.Tensor:
            targets = paddle.to_tensor(_targets(batch))
            return objective.share(logits, targets, weight=weight, num_rows=num_rows)

        return loss_of

    def _attack(self, attack: Attack, micro_batches: Sequence[MicroBatch], *, step: int) -> None:
        """A second round with the embeddings moved along the gradient of the whole step."""
        self.world.control.meet()
        gradient, norm = None, 0.0
        if attack.table is not None:
            own = paddle.zeros_like(attack.table) if attack.table.grad is None else attack.table.grad
            gradient = self.parts.replicas.summed_copy(own)
            norm = math.sqrt(float((gradient.astype("float64") ** 2).sum()))
        norm = float(self.world.control.sum(np.array([norm]))[0])
        if not math.isfinite(norm) or norm == 0.0:
            return
        num_passes = self.parts.objective.num_passes
        if attack.table is None or gradient is None:
            self._accumulate(micro_batches, step=step, first_pass=num_passes)
            return
        with attack.moved(gradient):
            self._accumulate(micro_batches, step=step, first_pass=num_passes)

    def _count_tokens(self, batch: MicroBatch) -> int:
        return int((batch.input_ids != self.stack.config.pad_token_id).sum())


def _targets(batch: MicroBatch) -> np.ndarray:
    assert batch.targets is not None, "training rows have targets"
    return batch.targets


def _belongs_to(name: str, parameters: Collection[str]) -> bool:
    return name.rpartition(".")[0] in parameters
