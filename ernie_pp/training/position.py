"""How long a run is, and the micro-batches of its steps from any place on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from ernie_pp.config import RunConfig, TrainConfig
from ernie_pp.data.batches import MicroBatch, StepCut, build_micro_batch, cut_step
from ernie_pp.data.order import order_steps
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import RunError
from ernie_pp.training.loop_state import LoopState


@dataclass(frozen=True)
class Length:
    """How long a run is, in steps."""

    steps_per_epoch: int
    num_steps: int
    eval_every: int
    save_every: int | None  # None: no checkpoints but those that evaluations call for


def plan_length(num_rows: int, config: TrainConfig, *, save_every: int | None = None) -> Length:
    """Steps of a run over `num_rows` training rows."""
    steps_per_epoch = math.ceil(num_rows / config.batch_size)
    # Rounded first: 10 x 0.7 is 7.000000000000001 in floating point.
    num_steps = max(1, math.ceil(round(steps_per_epoch * config.epochs, 6)))
    if config.max_steps is not None:
        num_steps = min(num_steps, config.max_steps)
    return Length(steps_per_epoch, num_steps, config.eval_every or steps_per_epoch, save_every)


def check_place(start: LoopState, *, num_rows: int, config: TrainConfig, where: str) -> None:
    """RunError for a place that no run of so many rows comes to."""
    length = plan_length(num_rows, config)
    epoch, steps = divmod(start.step, length.steps_per_epoch)
    expected = epoch * num_rows + min(steps * config.batch_size, num_rows)
    if start.step > length.num_steps or start.consumed_rows != expected:
        what = f"is at step {start.step} after {start.consumed_rows} rows, expected {expected} rows there"
        what += f" and {length.num_steps} steps at most"
        raise RunError(where, what, "Go on from another checkpoint.")


def steps_from(
    consumed_rows: int, rows: TokenRows, config: RunConfig, *, pad_id: int
) -> Iterator[tuple[int, list[MicroBatch]]]:
    """(rows consumed with this step, its micro-batches) of every step after those that took `consumed_rows`."""
    train, grid = config.train, config.parallel
    cut = StepCut(train.micro_batch_tokens, grid.stages, grid.replicas, grid.micro_batches)
    sizes = {"batch_size": train.batch_size, "bucket_batches": train.bucket_batches}
    first_epoch, done = divmod(consumed_rows, len(rows))
    for epoch in itertools.count(first_epoch):
        steps = order_steps(rows.lengths, **sizes, seed=config.seed, epoch=epoch)
        for step_rows in steps[done // train.batch_size :]:
            consumed_rows += len(step_rows)
            parts = cut_step(rows.lengths, step_rows, cut)
            yield consumed_rows, [build_micro_batch(rows, part, pad_id=pad_id) for part in parts]
        done = 0
