"""The steps between two log lines, as one line about all of them."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from ernie_pp.parallel.engine import StepResult
from ernie_pp.parallel.stopwatch import TIMES
from ernie_pp.training.loop_state import Unlogged
from ernie_pp.training.record import Record


class Window:
    """The steps since the last log line. Time counts steps and the making of their micro-batches, no evaluation."""

    def __init__(self, record: Record, *, steps_per_epoch: int, before: Unlogged | None = None) -> None:
        """`before` are steps that an earlier process made and has not logged."""
        self.record, self.steps_per_epoch = record, steps_per_epoch
        self.before = before or Unlogged()
        self.shown: dict[str, object] = {}
        self.results: list[StepResult] = []
        self.seconds = 0.0

    def start(self) -> None:
        """The next step begins now."""
        self.last = time.perf_counter()

    def add(self, result: StepResult) -> None:
        """One more step."""
        now = time.perf_counter()
        self.results.append(result)
        self.seconds, self.last = self.seconds + now - self.last, now

    def unlogged(self) -> Unlogged:
        """What a line would be about now."""
        # The loss of a skipped step is no number: one of them must not hide the others'.
        losses = [None if result.is_skipped else result.loss for result in self.results]
        num_tokens = sum(result.num_tokens for result in self.results)
        last = self.results[-1] if self.results else None
        norm = self.before.grad_norm if last is None else last.grad_norm
        return Unlogged(
            losses=[*self.before.losses, *losses],
            learning_rate=self.before.learning_rate if last is None else last.learning_rate,
            grad_norm=norm if norm is not None and math.isfinite(norm) else None,
            num_tokens=self.before.num_tokens + num_tokens,
            seconds=self.before.seconds + self.seconds,
        )

    def write_rest(self, step: int) -> None:
        """The steps an early end has left without a line."""
        if self.unlogged().losses:
            self.write(step)

    def write(self, step: int) -> None:
        """One line about all steps so far, `step` the last of them."""
        steps = self.unlogged()
        losses = [loss for loss in steps.losses if loss is not None]
        loss = float(np.mean(losses)) if losses else math.nan
        tokens_per_s = steps.num_tokens / steps.seconds
        values = {
            "epoch": round(step / self.steps_per_epoch, 4),
            "loss": loss,
            "learning_rate": steps.learning_rate,
            "grad_norm": steps.grad_norm,
            "tokens_per_s": round(tokens_per_s, 1),
            "num_skipped": len(steps.losses) - len(losses),
            "step_time_s": round(steps.seconds / len(steps.losses), 4),
            "peak_memory_bytes": max(self.results[-1].peak_bytes, default=0) if self.results else 0,
            "ranks": _describe_ranks(self.results),
        }
        self.record.write("train", step, values)
        self.shown = {"loss": f"{loss:.4f}", "tokens/s": f"{tokens_per_s:,.0f}"}
        self.results, self.seconds, self.before = [], 0.0, Unlogged()


def _describe_ranks(results: Sequence[StepResult]) -> list[dict[str, float]]:
    """Of each rank the mean seconds of a step by what they went into, and its peak memory so far."""
    described = []
    for rank, peak in enumerate(results[-1].peak_bytes if results else ()):
        times = np.mean([result.rank_times[rank].to_numbers() for result in results], axis=0)
        seconds = {name: round(float(value), 5) for name, value in zip(TIMES, times, strict=True)}
        described.append({"rank": rank, **seconds, "peak_memory_bytes": peak})
    return described
