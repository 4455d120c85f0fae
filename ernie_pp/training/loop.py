"""The training loop: steps, evaluations, the best model kept, early stopping."""

from __future__ import annotations

import itertools
import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ernie_pp.config import RunConfig, TrainConfig
from ernie_pp.data.batches import MicroBatch, build_micro_batch, cut_micro_batches
from ernie_pp.data.order import order_steps
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import NumericError
from ernie_pp.machine import held_signals
from ernie_pp.parallel.engine import Engine, StepResult
from ernie_pp.progress import track
from ernie_pp.training.record import RunRecord

LOG = logging.getLogger("ernie_pp")


@dataclass(frozen=True)
class Length:
    """How long a run is, in steps."""

    steps_per_epoch: int
    num_steps: int
    eval_every: int


@dataclass(frozen=True)
class Best:
    """The best evaluation: its step and the metric's value."""

    step: int
    value: float


@dataclass(frozen=True)
class Hooks:
    """What the loop calls: `evaluate(step)` returns the value of the best metric, `keep(step)` saves the model."""

    evaluate: Callable[[int], float]
    keep: Callable[[int], None]


def plan_length(num_rows: int, config: TrainConfig) -> Length:
    """Steps of a run over `num_rows` training rows."""
    steps_per_epoch = math.ceil(num_rows / config.batch_size)
    # Rounded first: 10 x 0.7 is 7.000000000000001 in floating point.
    num_steps = max(1, math.ceil(round(steps_per_epoch * config.epochs, 6)))
    if config.max_steps is not None:
        num_steps = min(num_steps, config.max_steps)
    return Length(steps_per_epoch, num_steps, config.eval_every or steps_per_epoch)


def train(engine: Engine, rows: TokenRows, config: RunConfig, *, pad_id: int, hooks: Hooks, record: RunRecord) -> Best:
    """Train for the configured length and return the best evaluation; the last step is always evaluated."""
    length = plan_length(len(rows), config.train)
    selection, window = _Selection(config.train.patience), _Window(record, length)
    steps = zip(range(1, length.num_steps + 1), _steps(rows, config, pad_id), strict=False)
    with track("training", length.num_steps, unit="steps") as tracker:
        window.start()
        for step, micro_batches in steps:
            with held_signals():
                result = engine.train_step(micro_batches, step=step - 1)
            window.add(result)
            last = step == length.num_steps
            if step % config.train.log_every == 0 or last:
                window.write(step)
            tracker.advance(1, **window.shown)
            if step % length.eval_every == 0 or last:
                selection.offer(step, hooks)
                window.start()
                if selection.is_over:
                    LOG.info("stopping early: no better evaluation in the last %d", selection.num_worse)
                    break
        window.write_rest(step)
    return selection.best


def _steps(rows: TokenRows, config: RunConfig, pad_id: int) -> Iterator[list[MicroBatch]]:
    train = config.train
    sizes = {"batch_size": train.batch_size, "bucket_batches": train.bucket_batches}
    for epoch in itertools.count():
        for step_rows in order_steps(rows.lengths, **sizes, seed=config.seed, epoch=epoch):
            parts = cut_micro_batches(rows.lengths, step_rows, max_tokens=train.micro_batch_tokens)
            yield [build_micro_batch(rows, part, pad_id=pad_id) for part in parts]


class _Selection:
    """Keeps the best evaluation and counts the ones since that were not better."""

    def __init__(self, patience: int | None) -> None:
        self.patience = patience
        self.best = Best(0, -math.inf)
        self.num_worse = 0

    @property
    def is_over(self) -> bool:
        return self.patience is not None and self.num_worse >= self.patience

    def offer(self, step: int, hooks: Hooks) -> None:
        value = hooks.evaluate(step)
        if math.isnan(value):
            what = "the metric of the best checkpoint is not a number"
            raise NumericError(f"evaluation at step {step}", what, "Lower train.learning_rate, or check the dev rows.")
        if value > self.best.value:
            hooks.keep(step)
            self.best, self.num_worse = Best(step, value), 0
        else:
            self.num_worse += 1


class _Window:
    """The steps since the last log line. Time counts steps and the making of their micro-batches, no evaluation."""

    def __init__(self, record: RunRecord, length: Length) -> None:
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
        loss = float(np.mean([result.loss for result in self.results]))
        tokens_per_s = sum(result.num_tokens for result in self.results) / self.seconds
        values = {
            "epoch": round(step / self.length.steps_per_epoch, 4),
            "loss": loss,
            "learning_rate": self.results[-1].learning_rate,
            "grad_norm": self.results[-1].grad_norm,
            "tokens_per_s": round(tokens_per_s, 1),
            "step_time_s": round(self.seconds / len(self.results), 4),
            "peak_memory_bytes": self.record.peak_memory_bytes(),
        }
        self.record.write("train", step, values)
        self.shown = {"loss": f"{loss:.4f}", "tokens/s": f"{tokens_per_s:,.0f}"}
        self.results, self.seconds = [], 0.0
