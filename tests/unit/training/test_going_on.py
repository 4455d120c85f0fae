"""A loop that is stopped at any place and goes on in another process does what one that was never stopped does."""

import signal
from dataclasses import dataclass

import numpy as np
import pytest

from ernie_pp.config import RunConfig
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.parallel.control import Alone
from ernie_pp.parallel.engine import StepResult, no_stop
from ernie_pp.training.loop import Course, Hooks, train
from ernie_pp.training.loop_state import LoopState
from ernie_pp.training.stops import Stops

VALUES = [0.3, 0.5, 0.4, 0.45, 0.6, 0.55, 0.5, 0.52]


@dataclass(frozen=True)
class Outcome:
    step: int
    value: float


class Run:
    """The processes of one run: what each of them did is in one list, in turn."""

    has_launcher = False

    def __init__(self, *, stop_at=None, number=signal.SIGTERM, **settings):
        """`stop_at` is ("step" or "evaluate", number): a signal comes while that goes on, each time it does."""
        self.did, self.saved, self.lines = [], [LoopState()], []
        self.stop_at, self.number = stop_at, number
        checkpoint = {"every": settings.pop("save_every", None)}
        train_settings = {"batch_size": 5, "log_every": 3, "epochs": 4.0, "eval_every": 2, **settings}
        values = {"task": "cls", "output_dir": "unused", "train": train_settings, "checkpoint": checkpoint}
        self.config = RunConfig.model_validate(values)

    def go(self):
        """One process, from where the last checkpoint was made; returns the best step."""
        stops = Stops(Alone(), has_launcher=self.has_launcher)
        course = Course(_rows(), self.config, 0, stops, start=self.saved[-1])

        def evaluate(step):
            self._signal("evaluate", step)
            stops.check()
            self.did.append(("evaluate", step))
            return Outcome(step, VALUES[step // 2 % len(VALUES)])

        hooks = Hooks(evaluate, self.keep, self.saved.append)
        return train(self, course, hooks=hooks, record=self).found.step

    def keep(self, outcome):
        self.did.append(("keep", outcome.step))
        return True

    def train_step(self, micro_batches, *, step, stop_signal=no_stop):
        self._signal("step", step + 1)
        rows = np.concatenate([batch.row_indexes for batch in micro_batches]).tolist()
        self.did.append(("step", step + 1, rows))
        is_skipped = step % 4 == 1
        return StepResult(1.0 / (step + 1), 0.5, 1e-3, len(rows), sum(rows), is_skipped, stop_signal())

    def write(self, kind, step, values):
        self.lines.append((step, values["loss"], values["num_skipped"], values["epoch"]))

    def _signal(self, what, number):
        if self.stop_at == (what, number):
            self.stop_at = None
            signal.raise_signal(self.number)


def _rows(num_rows=22):
    starts = np.concatenate([[0], np.cumsum(np.arange(num_rows) % 7 + 2)])
    ids, types = np.ones(starts[-1], np.int32), np.zeros(starts[-1], np.int8)
    return TokenRows(ids, types, starts, np.zeros(num_rows, np.int32), np.zeros(num_rows, np.int64))


PLACES = [*((what, step) for step in range(2, 21, 2) for what in ("step", "evaluate")), *(("step", s) for s in (1, 5))]


@pytest.mark.parametrize("save_every", [None, 3])
@pytest.mark.parametrize("stop_at", PLACES, ids=str)
def test_a_run_stopped_anywhere_goes_on_as_if_nothing_had_happened(stop_at, save_every):
    whole, stopped = Run(save_every=save_every), Run(stop_at=stop_at, save_every=save_every)
    best = whole.go()
    with pytest.raises(SystemExit) as left:
        stopped.go()
    assert left.value.code == 143
    assert stopped.go() == best
    assert (stopped.did, stopped.lines) == (whole.did, whole.lines)
    assert stopped.saved[-1] == whole.saved[-1]


def test_an_interrupt_is_one_for_the_caller():
    run = Run(stop_at=("step", 3), number=signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run.go()
    assert run.saved[-1].step == 3 and run.did[-1][:2] == ("step", 3)


def test_a_second_signal_acts_at_once():
    run = Run(stop_at=("step", 3), number=signal.SIGINT)
    run.write = lambda *_: signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run.go()
    assert run.saved[-1].step == 2, "nothing is saved any more"


def test_under_a_launcher_a_second_signal_changes_nothing():
    run = Run(stop_at=("step", 3))
    run.has_launcher, run.write = True, lambda *_: signal.raise_signal(signal.SIGTERM)
    with pytest.raises(SystemExit):
        run.go()
    assert run.saved[-1].step == 3


@pytest.mark.parametrize("every, steps", [(None, [2, 4, 6, 8]), (3, [2, 3, 6, 8]), (100, [2, 8])])
def test_checkpoints_come_in_time_with_every_better_model_and_at_the_end(every, steps):
    run = Run(save_every=every, max_steps=8)
    run.go()
    assert [state.step for state in run.saved[1:]] == steps
    better = [step for what, step, *_ in run.did if what == "keep"]
    assert set(better) <= {state.step for state in run.saved}


def test_patience_counts_on_over_a_stop():
    whole, stopped = Run(patience=3), Run(patience=3, stop_at=("evaluate", 8))
    whole.go()
    with pytest.raises(SystemExit):
        stopped.go()
    stopped.go()
    assert stopped.did == whole.did and stopped.saved[-1] == whole.saved[-1]
    steps = len(stopped.did)
    stopped.go()
    assert len(stopped.did) == steps, "a run that had come to its end does nothing more"


def test_a_signal_after_the_last_agreement_still_acts(monkeypatch):
    run = Run(max_steps=4)
    original = Stops.check

    def check(self):
        original(self)
        if run.saved[-1].step == 4:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(Stops, "check", check)
    with pytest.raises(SystemExit) as left:
        run.go()
    assert left.value.code == 143 and run.saved[-1].step == 4


def test_a_better_model_that_could_not_be_kept_uses_up_no_patience():
    run = Run(patience=1, max_steps=4)
    run.keep = lambda outcome: outcome.step != 2
    assert run.go() == 4
