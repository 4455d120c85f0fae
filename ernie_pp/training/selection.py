"""Which evaluation of a run is the best, when to stop looking, and whether updates are still made."""

from __future__ import annotations

import math
from typing import Generic, Protocol, TypeVar

from ernie_pp.errors import NumericError
from ernie_pp.parallel.engine import StepResult
from ernie_pp.training.loop_state import BestSoFar, LoopState

# So many skipped steps in a row at the end: lowering the loss scale would have mended fewer by then.
MOST_SKIPPED_AT_END = 10


class Outcome(Protocol):
    """One evaluation; `value` is that of the metric the best is chosen by, larger being better."""

    @property
    def step(self) -> int: ...
    @property
    def value(self) -> float: ...


Kind = TypeVar("Kind", bound=Outcome)


class Selection(Generic[Kind]):
    """Keeps the best evaluation and counts the ones since that were not better."""

    def __init__(self, patience: int | None, start: LoopState) -> None:
        self.patience, self.best, self.num_worse = patience, start.best, start.num_worse
        self.outcome: Kind | None = None  # the best one, where it was made in this process

    @property
    def is_over(self) -> bool:
        """Whether there was no better evaluation for so long that training may end."""
        return self.patience is not None and self.num_worse >= self.patience

    def is_better(self, outcome: Kind) -> bool:
        """Whether it is the best so far; NumericError where its value is no number."""
        if math.isnan(outcome.value):
            what = "the metric of the best checkpoint is not a number"
            where = f"evaluation at step {outcome.step}"
            raise NumericError(where, what, "Lower train.learning_rate, or check the dev rows.")
        return self.best is None or outcome.value > self.best.value

    def take(self, outcome: Kind) -> None:
        """It is the best from now on."""
        self.best, self.outcome, self.num_worse = BestSoFar(step=outcome.step, value=float(outcome.value)), outcome, 0

    def pass_over(self) -> None:
        """One more evaluation that is not the best."""
        self.num_worse += 1


class Updates:
    """Counts the steps that changed the model, and the ones since the last that did."""

    def __init__(self, start: LoopState) -> None:
        self.num_made, self.num_skipped_since = start.num_updates, start.num_skipped_since

    def add(self, result: StepResult) -> None:
        """One more step."""
        self.num_made += not result.is_skipped
        self.num_skipped_since = self.num_skipped_since + 1 if result.is_skipped else 0

    def check(self, step: int) -> None:
        """NumericError where training has left the finite numbers: figures would be those of no trained model."""
        if self.num_made and self.num_skipped_since < MOST_SKIPPED_AT_END:
            return
        which = f"the last {self.num_skipped_since} steps were" if self.num_made else "every step was"
        what = f"{which} skipped: loss or gradient is not finite"
        raise NumericError(f"training, step {step}", what, "Lower train.learning_rate, or train in fp32 or bf16.")
