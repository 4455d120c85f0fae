"""The loop: how long, which rows, what is logged, which evaluation wins, when it ends."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest

from ernie_pp.config import RunConfig, TrainConfig
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import NumericError, RunError
from ernie_pp.parallel.control import Alone
from ernie_pp.parallel.engine import StepResult, no_stop
from ernie_pp.parallel.stopwatch import RankTimes
from ernie_pp.training import window
from ernie_pp.training.answers import Pass, compute_answers
from ernie_pp.training.loop import Course, Hooks, train
from ernie_pp.training.position import plan_length
from ernie_pp.training.record import RunRecord
from ernie_pp.training.stops import Stops


class Engine:
    """Remembers the rows of each step; `losses` are given out in turn."""

    def __init__(self, losses=None):
        self.steps, self.numbers, self.losses = [], [], losses

    def train_step(self, micro_batches, *, step, stop_signal=no_stop):
        self.numbers.append(step)
        self.steps.append(np.concatenate([batch.row_indexes for batch in micro_batches]).tolist())
        num_tokens = sum(int((batch.input_ids > 0).sum()) for batch in micro_batches)
        loss = self.losses[step] if self.losses is not None else 1.0 / (step + 1)
        times = (RankTimes(1.0, 2.0, 0.0, step), RankTimes(3.0, 4.0, 0.25, 0.0))
        is_skipped = not math.isfinite(loss)
        return StepResult(loss, 0.5, 1e-3, len(self.steps[-1]), num_tokens, is_skipped, stop_signal(), times, (7, 9))

    def forward(self, micro_batches):
        for batch in micro_batches:
            yield np.stack([batch.row_indexes, -batch.row_indexes], axis=1).astype(np.float32)


@dataclass(frozen=True)
class Outcome:
    step: int
    value: float


class Record:
    """Keeps the lines."""

    def __init__(self):
        self.lines = []

    def write(self, kind, step, values):
        self.lines.append((kind, step, values))


def _rows(num_rows=22):
    lengths = np.random.default_rng(0).integers(2, 9, num_rows)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return TokenRows(
        np.ones(starts[-1], np.int32),
        np.zeros(starts[-1], np.int8),
        starts,
        np.zeros(num_rows, np.int32),
        np.zeros(num_rows, np.int64),
    )


def _train(values=None, losses=None, rows=None, **settings):
    """(best, engine, record, evaluated steps, kept steps) of a run whose evaluations give `values` in turn."""
    engine, record, evaluated, kept = Engine(losses), Record(), [], []
    given = iter(values if values is not None else [0.5] * 1000)

    def evaluate(step):
        evaluated.append(step)
        return Outcome(step, next(given))

    config = RunConfig(
        task="cls", output_dir="unused", train=TrainConfig(**{"batch_size": 5, "log_every": 3, **settings})
    )
    hooks = Hooks(evaluate, lambda outcome: not kept.append(outcome.step))
    course = Course(rows or _rows(), config, 0, Stops(Alone()))
    best = train(engine, course, hooks=hooks, record=record)
    assert best.outcome == Outcome(best.found.step, best.found.value)
    return best.outcome, engine, record, evaluated, kept


@pytest.mark.parametrize(
    "num_rows, settings, expected",
    [
        (22, {}, (5, 15, 5)),
        (20, {"epochs": 2.0}, (4, 8, 4)),
        (22, {"epochs": 0.5}, (5, 3, 5)),
        (22, {"epochs": 0.01}, (5, 1, 5)),
        (1, {"epochs": 1.0}, (1, 1, 1)),
        (50, {"epochs": 0.7}, (10, 7, 10)),
        (50, {"epochs": 1.1}, (10, 11, 10)),
        (22, {"max_steps": 4}, (5, 4, 5)),
        (22, {"max_steps": 400}, (5, 15, 5)),
        (22, {"eval_every": 2}, (5, 15, 2)),
    ],
)
def test_length_of_a_run(num_rows, settings, expected):
    length = plan_length(num_rows, TrainConfig(batch_size=5, **settings))
    assert (length.steps_per_epoch, length.num_steps, length.eval_every) == expected


def test_every_row_is_seen_once_an_epoch_in_another_order():
    _, engine, *_ = _train(epochs=3.0)
    epochs = [[row for step in engine.steps[start : start + 5] for row in step] for start in (0, 5, 10)]
    assert all(sorted(epoch) == list(range(22)) for epoch in epochs)
    assert epochs[0] != epochs[1]
    assert engine.numbers == list(range(15))


def test_the_same_seed_gives_the_same_steps():
    assert _train()[1].steps == _train()[1].steps


def test_a_step_larger_than_the_budget_comes_in_micro_batches():
    _, engine, *_ = _train(micro_batch_tokens=9, epochs=1.0)
    assert [len(step) for step in engine.steps] == [5, 5, 5, 5, 2]


@pytest.mark.parametrize(
    "settings, steps",
    [
        ({"epochs": 3.0}, [5, 10, 15]),
        ({"epochs": 0.5}, [3]),
        ({"epochs": 1.5}, [5, 8]),
        ({"max_steps": 7, "eval_every": 3}, [3, 6, 7]),
        ({"max_steps": 6, "eval_every": 3}, [3, 6]),
        ({"max_steps": 2, "eval_every": 100}, [2]),
    ],
)
def test_evaluations_come_in_time_and_after_the_last_step(settings, steps):
    assert _train(**settings)[3] == steps


def test_only_better_evaluations_are_kept():
    best, _, _, evaluated, kept = _train([0.3, 0.5, 0.5, 0.4, 0.6], max_steps=5, eval_every=1)
    assert (kept, evaluated) == ([1, 2, 5], [1, 2, 3, 4, 5])
    assert (best.step, best.value) == (5, 0.6)


def test_the_first_evaluation_is_kept_whatever_it_is():
    assert _train([0.0, 0.0], max_steps=2, eval_every=1)[4] == [1]
    assert _train([-5.0, -6.0], max_steps=2, eval_every=1)[4] == [1]


def test_patience_ends_the_run_and_a_better_one_renews_it():
    best, engine, record, evaluated, kept = _train([0.5, 0.4, 0.6, 0.6, 0.5, 0.9], eval_every=2, patience=2, epochs=9.0)
    assert (evaluated, kept, best.step) == ([2, 4, 6, 8, 10], [2, 6], 6)
    assert len(engine.steps) == 10
    assert [step for _, step, _ in record.lines] == [3, 6, 9, 10], "the last steps are logged too"


def test_a_metric_that_is_no_number_stops_the_run():
    with pytest.raises(NumericError, match="evaluation at step 1"):
        _train([math.nan], max_steps=3, eval_every=1)


def test_log_lines_hold_means_over_their_steps():
    _, _, record, *_ = _train(losses=[1.0, 2.0, 6.0, 4.0, 8.0], max_steps=5)
    lines = [(kind, step, values["loss"], values["epoch"]) for kind, step, values in record.lines]
    assert lines == [("train", 3, 3.0, 0.6), ("train", 5, 6.0, 1.0)]
    values = record.lines[0][2]
    assert (values["learning_rate"], values["grad_norm"], values["peak_memory_bytes"]) == (1e-3, 0.5, 9)


def test_log_lines_say_where_the_time_of_each_rank_went():
    _, _, record, *_ = _train(max_steps=5)
    first, second = record.lines[1][2]["ranks"]  # steps 4 and 5, counted from 0 by the engine
    assert first == {
        "rank": 0,
        "forward_s": 1.0,
        "backward_s": 2.0,
        "transfer_s": 0.0,
        "idle_s": 3.5,
        "peak_memory_bytes": 7,
    }
    assert (second["rank"], second["transfer_s"], second["peak_memory_bytes"]) == (1, 0.25, 9)


def test_a_skipped_step_is_counted_and_does_not_hide_the_loss_of_the_others():
    _, _, record, *_ = _train(losses=[1.0, math.nan, 6.0, math.inf, math.nan], max_steps=5)
    first, second = (values for _, _, values in record.lines)
    assert (first["loss"], first["num_skipped"]) == (3.5, 1)
    assert math.isnan(second["loss"]) and second["num_skipped"] == 2


@pytest.mark.parametrize(
    "losses, settings, message",
    [
        ([math.nan], {"max_steps": 1}, "every step was skipped"),
        ([math.nan] * 4, {"max_steps": 4, "eval_every": 1, "patience": 2}, "step 3\\n  every step was skipped"),
        ([1.0] * 5 + [math.inf] * 10, {}, "step 15\\n  the last 10 steps were skipped"),
    ],
)
def test_a_run_that_made_no_update_or_made_none_any_more_ends_in_an_error(losses, settings, message):
    with pytest.raises(NumericError, match=message):
        _train(losses=losses, **settings)


def test_steps_skipped_in_between_or_a_few_at_the_end_are_no_error():
    assert _train(losses=[math.nan] * 9 + [1.0] + [math.nan] * 5)[0].step == 5


def test_speed_counts_tokens_of_steps_and_no_evaluation(monkeypatch):
    clock = iter(np.arange(0.0, 1e6))  # every look at the clock takes a second
    monkeypatch.setattr(window.time, "perf_counter", lambda: float(next(clock)))
    rows = _rows(10)
    _, _, record, *_ = _train(rows=rows, epochs=1.0, log_every=2, eval_every=1)
    ((_, _, values),) = record.lines
    assert values["step_time_s"] == 1.0
    assert values["tokens_per_s"] == pytest.approx(len(rows.ids) / 2)


def test_answers_come_in_the_order_of_the_rows():
    rows = _rows(22)
    answers = compute_answers(Engine(), rows, Pass(20, 0, "evaluating", lambda logits, lengths: logits[:, 0]))
    assert answers == list(range(22))


def test_answers_that_are_not_finite_stop_with_their_row():
    class Broken(Engine):
        def forward(self, micro_batches):
            for logits in super().forward(micro_batches):
                logits[logits[:, 0] == 7] = np.nan
                yield logits

    with pytest.raises(NumericError, match=r"evaluating dev\n  1 of 22 rows .* row 7 first"):
        compute_answers(Broken(), _rows(22), Pass(20, 0, "evaluating dev", lambda logits, lengths: logits))


def test_record_lines_are_json_and_scalars_whatever_the_numbers(tmp_path):
    with RunRecord(tmp_path / "log.jsonl", tmp_path / "vdl") as record:
        record.write("train", 1, {"loss": math.nan, "grad_norm": math.inf, "learning_rate": 0.1})
        record.write("evaluate", 1, {"split": "dev", "accuracy": 0.5})

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    text = (tmp_path / "log.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line, parse_constant=refuse) for line in text.splitlines()]
    assert lines == record.history
    assert (lines[0]["loss"], lines[0]["grad_norm"], lines[0]["learning_rate"]) == (None, None, 0.1)
    assert (lines[1]["kind"], lines[1]["split"], lines[1]["step"]) == ("evaluate", "dev", 1)
    assert list((tmp_path / "vdl").iterdir())


def test_a_model_that_could_not_be_kept_is_not_the_best():
    def keep(outcome):
        return outcome.step not in (1, 3)

    values = iter([0.5, 0.4, 0.9, 0.6])
    config = RunConfig(task="cls", output_dir="unused", train=TrainConfig(batch_size=5, max_steps=4, eval_every=1))
    hooks = Hooks(lambda step: Outcome(step, next(values)), keep)
    best = train(Engine(), Course(_rows(), config, 0, Stops(Alone())), hooks=hooks, record=Record())
    assert (best.found.step, best.found.value) == (4, 0.6)
    with pytest.raises(RunError, match="no model could be saved"):
        values = iter([0.5] * 4)
        hooks = Hooks(hooks.evaluate, lambda _: False)
        train(Engine(), Course(_rows(), config, 0, Stops(Alone())), hooks=hooks, record=Record())
