"""The training loop: steps, evaluations, the best model kept, early stopping."""

from __future__ import annotations

import itertools
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from ernie_pp.config import RunConfig, TrainConfig
from ernie_pp.data.batches import MicroBatch, StepCut, build_micro_batch, cut_step
from ernie_pp.data.order import order_steps
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import NumericError
from ernie_pp.machine import held_signals
from ernie_pp.parallel.engine import Engine, StepResult
from ernie_pp.parallel.stopwatch import TIMES
from ernie_pp.progress import track
from ernie_pp.training.record import Record

LOG = logging.getLogger("ernie_pp")
# So many skipped steps in a row at the end: lowering the loss scale would have mended fewer by then.
MOST_SKIPPED_AT_END = 10


@dataclass(frozen=True)
class Length:
    """How long a run is, in steps."""

    steps_per_epoch: int
    num_steps: int
    eval_every: int


class Outcome(Protocol):
    """One evaluation; `value` is that of the metric the best is chosen by, larger being better."""

    @property
    def step(self) -> int: ...
    @property
    def value(self) -> float: ...


Kind = TypeVar("Kind", bound=Outcome)


@dataclass(frozen=True)
class Hooks(Generic[Kind]):
    """What the loop calls: `evaluate(step)` measures the model, `keep(outcome)` saves it as the best so far."""

    evaluate: Callable[[int], Kind]
    keep: Callable[[Kind], None]


def plan_length(num_rows: int, config: TrainConfig) -> Length:
    """Steps of a run over `num_rows` training rows."""
    steps_per_epoch = math.ceil(num_rows / config.batch_size)
    # Rounded first: 10 x 0.7 is 7.000000000000001 in floating point.
    num_steps = max(1, math.ceil(round(steps_per_epoch * config.epochs, 6)))
    if config.max_steps is not None:
        num_steps = min(num_steps, config.max_steps)
    return Length(steps_per_epoch, num_steps, config.eval_every or steps_per_epoch)


def train(
    engine: Engine, rows: TokenRows, config: RunConfig, *, pad_id: int, hooks: Hooks[Kind], record: Record
) -> Kind:
    """Train for the configured length and return the best evaluation; the last step is always evaluated."""
    length = plan_length(len(rows), config.train)
    selection, window, updates = _Selection(config.train.patience, hooks), _Window(record, length), _Updates()
    steps = zip(range(1, length.num_steps + 1), _steps(rows, config, pad_id), strict=False)
    with track("training", length.num_steps, unit="steps") as tracker:
        window.start()
        for step, micro_batches in steps:
            with held_signals():
                result = engine.train_step(micro_batches, step=step - 1)
            window.add(result)
            updates.add(result)
            last = step == length.num_steps
            if step % config.train.log_every == 0 or last:
                window.write(step)
            tracker.advance(1, **window.shown)
            if last:
                updates.check(step)
            if step % length.eval_every == 0 or last:
                selection.offer(step)
                window.start()
                if selection.is_over:
                    updates.check(step)
                    LOG.info("stopping early: no better evaluation in the last %d", selection.num_worse)
                    break
        window.write_rest(step)
    assert selection.best is not None, "the last step is evaluated"
    return selection.best


def _steps(rows: TokenRows, config: RunConfig, pad_id: int) -> Iterator[list[MicroBatch]]:
    train, grid = config.train, config.parallel
    cut = StepCut(train.micro_batch_tokens, grid.stages, grid.replicas, grid.micro_batches)
    sizes = {"batch_size": train.batch_size, "bucket_batches": train.bucket_batches}
    for epoch in itertools.count():
        for step_rows in order_steps(rows.lengths, **sizes, seed=config.seed, epoch=epoch):
            parts = cut_step(rows.lengths, step_rows, cut)
            yield [build_micro_batch(rows, part, pad_id=pad_id) for part in parts]


class _Updates:
    """Counts the steps that changed the model, and the ones since the last that did."""

    def __init__(self) -> None:
        self.num_made = self.num_skipped_since = 0

    def add(self, result: StepResult) -> None:
        self.num_made += not result.is_skipped
        self.num_skipped_since = self.num_skipped_since + 1 if result.is_skipped else 0

    def check(self, step: int) -> None:
        """NumericError where training has left the finite numbers: figures would be those of no trained model."""
        if self.num_made and self.num_skipped_since < MOST_SKIPPED_AT_END:
            return
        which = f"the last {self.num_skipped_since} steps were" if self.num_made else "every step was"
        what = f"{which} skipped: loss or gradient is not finite"
        raise NumericError(f"training, step {step}", what, "Lower train.learning_rate, or train in fp32 or bf16.")


class _Selection(Generic[Kind]):
    """Keeps the best evaluation and counts the ones since that were not better."""

    def __init__(self, patience: int | None, hooks: Hooks[Kind]) -> None:
        self.patience, self.hooks = patience, hooks
        self.best: Kind | None = None
        self.num_worse = 0

    @property
    def is_over(self) -> bool:
        return self.patience is not None and self.num_worse >= self.patience

    def offer(self, step: int) -> None:
        outcome = self.hooks.evaluate(step)
        if math.isnan(outcome.value):
            what = "the metric of the best checkpoint is not a number"
            raise NumericError(f"evaluation at step {step}", what, "Lower train.learning_rate, or check the dev rows.")
        if self.best is None or outcome.value > self.best.value:
            self.hooks.keep(outcome)
            self.best, self.num_worse = outcome, 0
        else:
            self.num_worse += 1


class _Window:
    """The steps since the last log line. Time counts steps and the making of their micro-batches, no evaluation."""

    def __init__(self, record: Record, length: Length) -> None:
        self.record, self.length = record, length
        self.shown: dict[str, object] = {}
        self.results: list[StepResult] = []
        self.seconds = 0.0

    def start(self) -> None:
        self.last = time.perf_counter()

    def add(self, result: StepResult) -> None:
        now = time.perf_counter()
        self.results.append(result)
        self.seconds, self.last = self.seconds + now - self.last, now

    def write_rest(self, step: int) -> None:
        """The steps a stop in between has left without a line."""
        if self.results:
            self.write(step)

    def write(self, step: int) -> None:
        # The loss of a skipped step is no number: one of them must not hide the others'.
        losses = [result.loss for result in self.results if not result.is_skipped]
        loss = float(np.mean(losses)) if losses else math.nan
        tokens_per_s = sum(result.num_tokens for result in self.results) / self.seconds
        values = {
            "epoch": round(step / self.length.steps_per_epoch, 4),
            "loss": loss,
            "learning_rate": self.results[-1].learning_rate,
            "grad_norm": self.results[-1].grad_norm,
            "tokens_per_s": round(tokens_per_s, 1),
            "num_skipped": len(self.results) - len(losses),
            "step_time_s": round(self.seconds / len(self.results), 4),
            "peak_memory_bytes": max(self.results[-1].peak_bytes, default=0),
            "ranks": _describe_ranks(self.results),
        }
        self.record.write("train", step, values)
        self.shown = {"loss": f"{loss:.4f}", "tokens/s": f"{tokens_per_s:,.0f}"}
        self.results, self.seconds = [], 0.0


def _describe_ranks(results: Sequence[StepResult]) -> list[dict[str, float]]:
    """Of each rank the mean seconds of a step by what they went into, and its peak memory so far."""
    described = []
    for rank, peak in enumerate(results[-1].peak_bytes):
        times = np.mean([result.rank_times[rank].to_numbers() for result in results], axis=0)
        seconds = {name: round(float(value), 5) for name, value in zip(TIMES, times, strict=True)}
        described.append({"rank": rank, **seconds, "peak_memory_bytes": peak})
    return described
