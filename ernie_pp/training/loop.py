"""The training loop: steps, evaluations, the best model kept, checkpoints, early stopping, and going on."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic

from ernie_pp.config import RunConfig
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import RunError
from ernie_pp.parallel.beats import Beats
from ernie_pp.parallel.engine import Engine, StepResult
from ernie_pp.progress import Tracker, track
from ernie_pp.training.loop_state import BestSoFar, LoopState
from ernie_pp.training.position import plan_length, steps_from
from ernie_pp.training.record import Record
from ernie_pp.training.selection import Kind, Selection, Updates
from ernie_pp.training.stops import Stopped, Stops
from ernie_pp.training.window import Window

LOG = logging.getLogger("ernie_pp")


@dataclass(frozen=True)
class Hooks(Generic[Kind]):
    """What the loop calls.

    `evaluate(step)` measures the model, and may raise Stopped on every rank alike; `keep(outcome)` saves the model as
    the best so far, and says whether it could; `save(state)` makes a checkpoint, and
    says whether it could.
    """

    evaluate: Callable[[int], Kind]
    keep: Callable[[Kind], bool]
    save: Callable[[LoopState], bool] = lambda state: False


@dataclass(frozen=True)
class Course:
    """What a run is given beside its engine: rows, settings, the place to start from, and how it is stopped."""

    rows: TokenRows
    config: RunConfig
    pad_id: int
    stops: Stops
    start: LoopState = field(default_factory=LoopState)
    beats: Beats = field(default_factory=Beats)


@dataclass(frozen=True)
class Best(Generic[Kind]):
    """The best evaluation of a run; `outcome` is None where an earlier process has made it."""

    found: BestSoFar
    outcome: Kind | None


def train(engine: Engine, course: Course, *, hooks: Hooks[Kind], record: Record) -> Best[Kind]:
    """Train for the configured length and return the best evaluation; the last step is always evaluated.

    A stop signal ends the step, or the evaluation, that is under way; a checkpoint is made and the process leaves.
    """
    loop, stopped_by = _Loop(engine, course, hooks, record), 0
    with course.stops.noted():
        try:
            loop.run()
        except Stopped as stop:
            loop.save_rest()
            stopped_by = stop.number
    # One that came after all ranks have asked each other for the last time is this rank's own.
    number = stopped_by or course.stops.number
    if number:
        loop.say_where_it_stands(number)
        course.stops.act(number)
    if loop.selection.best is None:
        raise RunError("training", "has ended, and no model could be saved", "Make room on the disk, and go on.")
    return Best(loop.selection.best, loop.selection.outcome)


class _Loop(Generic[Kind]):
    def __init__(self, engine: Engine, course: Course, hooks: Hooks[Kind], record: Record) -> None:
        self.engine, self.course, self.hooks = engine, course, hooks
        start, train = course.start, course.config.train
        self.length = plan_length(len(course.rows), train, save_every=course.config.checkpoint.every)
        self.selection: Selection[Kind] = Selection(train.patience, start)
        self.updates = Updates(start)
        per_epoch = self.length.steps_per_epoch
        self.window = Window(record, steps_per_epoch=per_epoch, before=start.unlogged)
        self.step, self.consumed_rows, self.is_evaluated = start.step, start.consumed_rows, start.is_evaluated
        self.saved = start

    @property
    def is_last(self) -> bool:
        return self.step >= self.length.num_steps

    def run(self) -> None:
        """From the start to the end; Stopped on all ranks at a stop signal."""
        train, course = self.course.config.train, self.course
        with track("training", self.length.num_steps, unit="steps") as tracker:
            tracker.skip(self.step)
            self._catch_up()
            steps = steps_from(self.consumed_rows, course.rows, course.config, pad_id=course.pad_id)
            while not self.is_last and not self.selection.is_over:
                consumed_rows, micro_batches = next(steps)
                result = self.engine.train_step(micro_batches, step=self.step, stop_signal=course.stops.signal)
                self.consumed_rows = consumed_rows
                self._count(result, tracker)
                if self.step % train.log_every == 0 or self.is_last:
                    self.window.write(self.step)
                if result.stop_signal:
                    raise Stopped(result.stop_signal)
                self._look()

    def save_rest(self) -> None:
        """A checkpoint of what is not in one yet."""
        if self.state() != self.saved:
            self._save()

    def say_where_it_stands(self, number: int) -> None:
        """What a stop signal has led to."""
        is_saved = self.course.config.checkpoint.enabled and self.state() == self.saved
        rest = "the same command goes on from there" if is_saved else "what came after the last checkpoint is not saved"
        LOG.info("%s: stopped after step %d; %s", signal.Signals(number).name, self.step, rest)

    def state(self) -> LoopState:
        """Where the loop stands."""
        return LoopState(
            step=self.step,
            consumed_rows=self.consumed_rows,
            is_evaluated=self.is_evaluated,
            best=self.selection.best,
            num_worse=self.selection.num_worse,
            num_updates=self.updates.num_made,
            num_skipped_since=self.updates.num_skipped_since,
            unlogged=self.window.unlogged(),
        )

    def _catch_up(self) -> None:
        """What a process that was ended has not come to after its last step."""
        if not self.is_evaluated:
            self._look()
        self.window.start()

    def _count(self, result: StepResult, tracker: Tracker) -> None:
        self.step += 1
        self.is_evaluated = not (self.is_last or self.step % self.length.eval_every == 0)
        self.window.add(result)
        self.updates.add(result)
        self.course.beats.end_step(self.step)
        tracker.advance(1, **self.window.shown)

    def _look(self) -> None:
        """Evaluate and save after a step, where either is due."""
        has_evaluated = not self.is_evaluated
        is_kept = has_evaluated and self._evaluate()
        if is_kept or self._is_save_due(has_evaluated=has_evaluated):
            self._save()
        elif not has_evaluated:
            return
        self.window.start()
        self.course.stops.check()

    def _evaluate(self) -> bool:
        """Whether the model is the best so far, and could be kept."""
        if self.is_last:
            self.updates.check(self.step)
        outcome = self.hooks.evaluate(self.step)
        is_kept = False
        if not self.selection.is_better(outcome):
            self.selection.pass_over()
        elif self.hooks.keep(outcome):
            self.selection.take(outcome)
            is_kept = True
        self.is_evaluated = True
        if self.selection.is_over:
            self.updates.check(self.step)
            self.window.write_rest(self.step)
            LOG.info("stopping early: no better evaluation in the last %d", self.selection.num_worse)
        return is_kept

    def _is_save_due(self, *, has_evaluated: bool) -> bool:
        every = self.length.save_every
        if self.is_last or self.selection.is_over:
            return True
        return has_evaluated if every is None else self.step % every == 0

    def _save(self) -> None:
        state = self.state()
        if self.hooks.save(state):
            self.saved = state
