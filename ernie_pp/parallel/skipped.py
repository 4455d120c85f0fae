"""Steps whose loss or gradient is not finite: skipped on all ranks, counted, and an error when they go on."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ernie_pp.data.batches import MicroBatch
from ernie_pp.errors import NumericError
from ernie_pp.parallel.control import Control
from ernie_pp.parallel.step_sum import StepSum

LOG = logging.getLogger("ernie_pp")
MOST_SKIPPED_IN_A_ROW = 3
_ROWS_NAMED = 10


class Gradients(Protocol):
    """Where the bad value may be."""

    def first_bad_gradient(self) -> str | None: ...


class SkippedSteps:
    """Every rank records every step, with the same losses and verdict; what it says counts them from 1."""

    def __init__(self, control: Control) -> None:
        self.control = control
        self.count = self.in_a_row = 0

    def record(
        self,
        step: int,
        micro_batches: Sequence[MicroBatch],
        total: StepSum,
        *,
        could_mend: bool,
        gradients: Gradients,
    ) -> None:
        """NumericError after three bad steps in a row that a lower loss scale would not mend (`could_mend`)."""
        if total.is_finite:
            self.in_a_row = 0
            return
        self.count += 1
        LOG.warning("step %d: loss or gradient not finite, update skipped (%d so far)", step + 1, self.count)
        self.in_a_row += not could_mend
        if self.in_a_row >= MOST_SKIPPED_IN_A_ROW:
            raise _error(step + 1, _bad_rows(micro_batches, total.losses), self._first_bad(gradients))

    def _first_bad(self, gradients: Gradients) -> str:
        """The first bad gradient in the order of the ranks; all of them ask at once."""
        names = self.control.gather((gradients.first_bad_gradient() or "").encode())
        return self.control.broadcast(next((name for name in names if name), b"none (the loss alone)")).decode()


def _bad_rows(micro_batches: Sequence[MicroBatch], losses: np.ndarray) -> np.ndarray:
    bad = [batch for batch, loss in zip(micro_batches, losses, strict=True) if not np.isfinite(loss)]
    return np.concatenate([batch.row_indexes for batch in bad or micro_batches])


def _error(step: int, rows: np.ndarray, parameter: str) -> NumericError:
    named = ", ".join(str(row) for row in rows[:_ROWS_NAMED]) + (", ..." if len(rows) > _ROWS_NAMED else "")
    return NumericError(
        f"step {step}",
        f"loss or gradient not finite in {MOST_SKIPPED_IN_A_ROW} steps in a row\n"
        f"first parameter with a bad gradient: {parameter}\nrows: {named}",
        "Lower train.learning_rate, lengthen train.warmup, or look at these rows.",
    )
