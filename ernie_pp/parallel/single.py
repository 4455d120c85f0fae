"""The engine of one process: accumulates the gradient of a step over its micro-batches, checks it, updates."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import paddle

from ernie_pp.data.batches import MicroBatch
from ernie_pp.errors import NumericError
from ernie_pp.models.dropout import DropoutKey
from ernie_pp.models.stack import ErnieStack
from ernie_pp.parallel.engine import EngineState, StepResult
from ernie_pp.parallel.forward import Autocast, SingleProcessForward, input_tensors

LOG = logging.getLogger("ernie_pp")
MOST_SKIPPED_IN_A_ROW = 3
_ROWS_NAMED = 10


class Objective(Protocol):
    """The step's loss, one micro-batch at a time."""

    @property
    def loss(self) -> Any: ...
    @property
    def num_passes(self) -> int: ...
    def share(
        self, forward: Callable[[int], paddle.Tensor], targets: paddle.Tensor, *, weight: float, num_rows: int
    ) -> paddle.Tensor: ...


class Updater(Protocol):
    """The optimizer, as far as a step needs it."""

    def gradient_norm(self) -> float: ...
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
    """Adds a further gradient, as FGM does."""

    def add_gradient(self, accumulate: Callable[[], object]) -> None: ...


@dataclass(frozen=True)
class StepParts:
    """What a step is made of."""

    objective: Objective
    updater: Updater
    casting: Casting
    learning_rate: Callable[[int], float]
    attack: Attack | None = None


@dataclass(frozen=True)
class _StepWeight:
    weight: float
    num_rows: int
    step: int


class SingleProcessEngine:
    """Trains the whole stack in this process."""

    def __init__(self, stack: ErnieStack, parts: StepParts, *, seed: int) -> None:
        self.stack, self.parts, self.seed = stack, parts, seed
        self.num_skipped = 0
        self._skipped_in_a_row = 0

    def train_step(self, micro_batches: Sequence[MicroBatch], *, step: int) -> StepResult:
        """One update from the mean loss over all rows of the micro-batches."""
        self.stack.train()
        updater, num_rows = self.parts.updater, sum(len(batch.input_ids) for batch in micro_batches)
        step_weight = _StepWeight(self._weight(micro_batches), num_rows, step)
        losses = self._accumulate(micro_batches, step_weight, first_pass=0)
        if self.parts.attack is not None:
            num_passes = self.parts.objective.num_passes
            self.parts.attack.add_gradient(lambda: self._accumulate(micro_batches, step_weight, first_pass=num_passes))
        norm = updater.gradient_norm() / self.parts.casting.scale
        is_finite = bool(np.isfinite(losses).all()) and math.isfinite(norm)
        learning_rate = self.parts.learning_rate(step)
        try:
            if is_finite:
                updater.scale_gradients(updater.clip_factor(norm) / self.parts.casting.scale)
                updater.step(learning_rate)
            self._record(micro_batches, losses, is_finite=is_finite, step=step)
        finally:
            updater.clear_gradients()
        num_tokens = sum(self._count_tokens(batch) for batch in micro_batches)
        return StepResult(float(losses.sum()), norm, learning_rate, num_rows, num_tokens, not is_finite)

    def forward(self, micro_batches: Iterable[MicroBatch]) -> Iterator[np.ndarray]:
        """Float32 logits [rows, labels] of each micro-batch as it is asked for."""
        return SingleProcessForward(self.stack, self.parts.casting).forward(micro_batches)

    def state(self) -> EngineState:
        """A copy of weights, optimizer and loss scale."""
        return EngineState(self.stack.state(), self.parts.updater.state(), self.parts.casting.state())

    def load_state(self, state: EngineState) -> None:
        """Go on from a state that `state` gave."""
        self.stack.load_state(state.weights)
        self.parts.updater.load_state(state.optimizer)
        self.parts.casting.load_state(state.scalars)

    def _weight(self, micro_batches: Sequence[MicroBatch]) -> float:
        loss = self.parts.objective.loss
        return sum(loss.weight(_targets(batch)) for batch in micro_batches)

    def _accumulate(
        self, micro_batches: Sequence[MicroBatch], step_weight: _StepWeight, *, first_pass: int
    ) -> np.ndarray:
        """Add the gradient of every micro-batch; the part of the loss that each has."""
        shares = []
        for index, batch in enumerate(micro_batches):
            if not len(batch.input_ids):
                shares.append(paddle.zeros([]))
                continue
            share = self._share(batch, step_weight, DropoutKey(self.seed, step_weight.step, index, first_pass))
            (share * self.parts.casting.scale if self.parts.casting.scale != 1.0 else share).backward()
            shares.append(share.detach())
        return paddle.stack(shares).numpy()

    def _share(self, batch: MicroBatch, step_weight: _StepWeight, key: DropoutKey) -> paddle.Tensor:
        inputs, targets = input_tensors(batch), paddle.to_tensor(_targets(batch))

        def forward(pass_index: int) -> paddle.Tensor:
            self.stack.set_dropout_key(key.plus(pass_index))
            with self.parts.casting.autocast():
                return self.stack(*inputs)

        objective = self.parts.objective
        return objective.share(forward, targets, weight=step_weight.weight, num_rows=step_weight.num_rows)

    def _record(self, micro_batches: Sequence[MicroBatch], losses: np.ndarray, *, is_finite: bool, step: int) -> None:
        """Count a step that was not finite; NumericError after three in a row that a lower scale would not mend."""
        could_mend = self.parts.casting.record(is_finite=is_finite)
        if is_finite:
            self._skipped_in_a_row = 0
            return
        self.num_skipped += 1
        LOG.warning("step %d: loss or gradient not finite, update skipped (%d so far)", step, self.num_skipped)
        if could_mend:
            return
        self._skipped_in_a_row += 1
        if self._skipped_in_a_row >= MOST_SKIPPED_IN_A_ROW:
            raise self._numeric_error(micro_batches, losses, step)

    def _numeric_error(self, micro_batches: Sequence[MicroBatch], losses: np.ndarray, step: int) -> NumericError:
        bad = [batch for batch, loss in zip(micro_batches, losses, strict=True) if not np.isfinite(loss)]
        rows = np.concatenate([batch.row_indexes for batch in bad or micro_batches])
        named = ", ".join(str(row) for row in rows[:_ROWS_NAMED]) + (", ..." if len(rows) > _ROWS_NAMED else "")
        parameter = self.parts.updater.first_bad_gradient() or "none (the loss alone)"
        return NumericError(
            f"step {step}",
            f"loss or gradient not finite in {MOST_SKIPPED_IN_A_ROW} steps in a row\n"
            f"first parameter with a bad gradient: {parameter}\nrows: {named}",
            "Lower train.learning_rate, lengthen train.warmup, or look at these rows.",
        )

    def _count_tokens(self, batch: MicroBatch) -> int:
        return int((batch.input_ids != self.stack.config.pad_token_id).sum())


def _targets(batch: MicroBatch) -> np.ndarray:
    assert batch.targets is not None, "training rows have targets"
    return batch.targets
