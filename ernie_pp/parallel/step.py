"""The training engine: the gradient of a step from all its micro-batches, checked, then one update.

One process, replicas only, stages only and both differ in three parts: `rounds` (how a micro-batch comes through the
model), `replicas` (the sum of gradients) and `world.control` (a few numbers all ranks must agree on).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import paddle

from ernie_pp.data.batches import MicroBatch
from ernie_pp.models.dropout import DropoutKey
from ernie_pp.models.stack import ErnieStack
from ernie_pp.parallel.engine import EngineState, StepResult, StopSignal, no_stop
from ernie_pp.parallel.measured import MeasuredStep, gather_step
from ernie_pp.parallel.peak import peak_memory_bytes
from ernie_pp.parallel.rounds import RoundItem
from ernie_pp.parallel.sharing import forward_together
from ernie_pp.parallel.skipped import SkippedSteps
from ernie_pp.parallel.step_parts import Attack, StepParts
from ernie_pp.parallel.step_sum import RankFigures, StepSum, sum_step
from ernie_pp.parallel.stopwatch import Span
from ernie_pp.parallel.transfer import gather_arrays, scatter_arrays
from ernie_pp.parallel.world import World


@dataclass(frozen=True)
class _ShownStep:
    """The last of the largest steps, as this rank saw it."""

    num_rows: int = 0
    step: int = 0
    spans: tuple[Span, ...] = ()


class StepEngine:
    """Trains the layers that `stack` keeps here, together with the other ranks of `world`."""

    def __init__(self, stack: ErnieStack, parts: StepParts, *, seed: int, world: World) -> None:
        self.stack, self.parts, self.seed, self.world = stack, parts, seed, world
        self.skipped = SkippedSteps(world)
        self._shown = _ShownStep()

    def train_step(
        self, micro_batches: Sequence[MicroBatch], *, step: int, stop_signal: StopSignal = no_stop
    ) -> StepResult:
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
        peak = peak_memory_bytes(is_cpu=self.world.is_cpu)
        own = RankFigures(self.parts.stopwatch.times(), peak, stop_signal())
        total = sum_step(losses, square, own=own, world=self.world)
        self._update(total, micro_batches, step=step)
        self._note(micro_batches, step=step)
        return self._result(total, micro_batches, step=step)

    def measured_step(self) -> MeasuredStep | None:
        """The last of the largest steps as it was, on rank 0; None on the others."""
        return gather_step(self._shown.step, self._shown.spans, self.world)

    def forward(self, micro_batches: Iterable[MicroBatch]) -> Iterator[np.ndarray]:
        """Float32 logits [rows, ...] of each micro-batch, in turn, on every rank."""
        return forward_together(self.parts.rounds, micro_batches, self.world)

    def weights(self) -> dict[str, np.ndarray]:
        """All weights of the model on rank 0; nothing on the others."""
        return gather_arrays(self.stack.state(), self.world)

    def load_weights(self, weights: Mapping[str, np.ndarray]) -> None:
        """Set the weights to those that rank 0 gives."""
        own = self.stack.canonical_parameters()
        self.stack.load_state(scatter_arrays(weights, self.world, is_wanted=lambda name: name in own))

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the weights here."""
        return {name: tuple(tensor.shape) for name, tensor in self.stack.canonical_parameters().items()}

    @property
    def owned(self) -> frozenset[str]:
        """Names of the weights that this rank updates, and keeps optimizer state of."""
        return frozenset(self.parts.updater.owned)

    def state(self) -> EngineState:
        """A copy of weights, optimizer, loss scale and the count of bad steps of this rank."""
        scalars = {**self.parts.casting.state(), **self.skipped.state()}
        return EngineState(self.stack.state(), self.parts.updater.state(), scalars)

    def load_state(self, state: EngineState) -> None:
        """Go on from a state as `state` gave it: this rank's, whatever the grid was."""
        self.stack.load_state(state.weights)
        self.parts.updater.load_state(state.optimizer)
        self.parts.casting.load_state(dict(state.scalars))
        self.skipped.load_state(state.scalars)

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
            loss=float(total.losses.sum()),
            grad_norm=total.norm,
            learning_rate=self.parts.learning_rate(step),
            num_rows=_count_rows(micro_batches),
            num_tokens=sum(self._count_tokens(batch) for batch in micro_batches),
            is_skipped=not total.is_finite,
            stop_signal=total.stop_signal,
            rank_times=tuple(rank.times for rank in total.ranks),
            peak_bytes=tuple(rank.peak_bytes for rank in total.ranks),
        )

    def _note(self, micro_batches: Sequence[MicroBatch], *, step: int) -> None:
        num_rows = _count_rows(micro_batches)
        if num_rows >= self._shown.num_rows:
            # A copy: what is computed after the step, as in an evaluation, is no part of it.
            self._shown = _ShownStep(num_rows, step, tuple(self.parts.stopwatch.spans))

    def _accumulate(self, micro_batches: Sequence[MicroBatch], *, step: int, first_pass: int) -> np.ndarray:
        """Add the gradients of this replica's micro-batches; the losses known here, at their places in the step."""
        num_passes, replicas = self.parts.objective.num_passes, self.world.grid.replicas
        mine = [
            index for index, batch in enumerate(micro_batches)
            if index % replicas == self.world.replica and len(batch.input_ids)
        ]  # fmt: skip
        keys = [DropoutKey(self.seed, step, index, first_pass) for index in range(len(micro_batches))]
        items = [RoundItem(micro_batches[i], tuple(keys[i].plus(n) for n in range(num_passes))) for i in mine]
        losses = np.zeros(len(micro_batches))
        losses[mine] = self.parts.rounds.accumulate(items, self._loss_of(micro_batches), scale=self.parts.casting.scale)
        return losses

    def _loss_of(self, micro_batches: Sequence[MicroBatch]) -> Callable[[paddle.Tensor, MicroBatch], paddle.Tensor]:
        objective = self.parts.objective
        weight = sum(objective.loss.weight(_targets(batch)) for batch in micro_batches)
        num_rows = _count_rows(micro_batches)

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
        with attack.moved(gradient) if gradient is not None else nullcontext():
            self._accumulate(micro_batches, step=step, first_pass=self.parts.objective.num_passes)

    def _count_tokens(self, batch: MicroBatch) -> int:
        return int((batch.input_ids != self.stack.config.pad_token_id).sum())


def _count_rows(micro_batches: Sequence[MicroBatch]) -> int:
    return sum(len(batch.input_ids) for batch in micro_batches)


def _targets(batch: MicroBatch) -> np.ndarray:
    assert batch.targets is not None, "training rows have targets"
    return batch.targets
