"""Steps whose loss or gradient is not finite: skipped on all ranks, counted, and an error when they go on."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from ernie_pp.data.batches import MicroBatch
from ernie_pp.errors import NumericError
from ernie_pp.parallel.step_sum import StepSum
from ernie_pp.parallel.world import World

LOG = logging.getLogger("ernie_pp")
MOST_SKIPPED_IN_A_ROW = 3
_ROWS_NAMED = 10
_SCALED = "step %d: loss or gradient not finite, update skipped and loss scale lowered (%d skipped so far)"
_SKIPPED = "step %d: loss or gradient not finite, update skipped on all ranks (%d skipped so far); %s; %s"


class Gradients(Protocol):
    """Where the bad value may be."""

    def first_bad_gradient(self) -> str | None: ...


class SkippedSteps:
    """Every rank records every step, with the same losses and verdict; what it says counts them from 1."""

    def __init__(self, world: World) -> None:
        self.world = world
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
        """NumericError after three bad steps in a row that a lower loss scale would not mend (`could_mend`).

        Each of those three is told with the parameter, its stage and the rows: all ranks look for them together.
        """
        if total.is_finite:
            self.in_a_row = 0
            return
        self.count += 1
        if could_mend:
            LOG.warning(_SCALED, step + 1, self.count)
            return
        self.in_a_row += 1
        found = self._first_bad(gradients, total), _describe_rows(micro_batches, total.losses)
        if self.in_a_row >= MOST_SKIPPED_IN_A_ROW:
            raise _error(step + 1, "\n".join(found))
        LOG.warning(_SKIPPED, step + 1, self.count, *found)

    def state(self) -> dict[str, float]:
        """What a resumed run needs to know."""
        return {"num_skipped": float(self.count), "num_skipped_in_a_row": float(self.in_a_row)}

    def load_state(self, state: Mapping[str, float]) -> None:
        """Go on from `state`."""
        self.count, self.in_a_row = int(state["num_skipped"]), int(state["num_skipped_in_a_row"])

    def _first_bad(self, gradients: Gradients, total: StepSum) -> str:
        """Where the first bad gradient in the order of the ranks is."""
        control = self.world.control
        names = [name.decode() for name in control.gather((gradients.first_bad_gradient() or "").encode())]
        stages = (self.world.grid.stage_of(rank) for rank in range(len(names)))
        places = (f"{name} (stage {stage})" for stage, name in zip(stages, names, strict=True) if name)
        in_loss = not np.isfinite(total.losses).all()
        lone = "none, the loss alone" if in_loss else "none, the sum of their squares is too large"
        where = control.broadcast(next(places, lone).encode()).decode()
        return f"first parameter with a bad gradient: {where}"


def _describe_rows(micro_batches: Sequence[MicroBatch], losses: np.ndarray) -> str:
    """The rows of the micro-batches with a bad loss, or of all where each loss is a number."""
    bad = [batch for batch, loss in zip(micro_batches, losses, strict=True) if not np.isfinite(loss)]
    rows = np.concatenate([batch.row_indexes for batch in bad or micro_batches])
    named = ", ".join(str(row) for row in rows[:_ROWS_NAMED]) + (", ..." if len(rows) > _ROWS_NAMED else "")
    return f"rows{'' if bad else ' of the step, whose losses are finite'}: {named}"


def _error(step: int, found: str) -> NumericError:
    return NumericError(
        f"step {step}",
        f"loss or gradient not finite in {MOST_SKIPPED_IN_A_ROW} steps in a row\n{found}",
        "Lower train.learning_rate, lengthen train.warmup, or look at these rows (counted from 0).",
    )
