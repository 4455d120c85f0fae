import numpy as np
import pytest

from ernie_pp.parallel.measured import MeasuredStep, gather_step
from ernie_pp.parallel.stopwatch import Span, Stopwatch
from ernie_pp.parallel.topology import Grid
from ernie_pp.parallel.world import World
from ernie_pp.partition.order import Kind

FIRST = (
    Span("forward", 0, 0, 0.0, 1.0),
    Span("forward", 0, 1, 1.0, 2.0),
    Span("backward", 0, 0, 3.0, 4.0),
    Span("backward", 0, 1, 4.0, 6.0),
)
LAST = (
    Span("forward", 0, 0, 1.0, 2.0),
    Span("backward", 0, 0, 2.0, 3.0),
    Span("forward", 0, 1, 3.0, 3.5),
    Span("backward", 0, 1, 3.5, 4.0),
)
STEP = MeasuredStep(7, Grid(2, 1), (FIRST, LAST))


def test_a_measured_step_is_told_as_a_simulated_one():
    timeline = STEP.timeline()
    assert timeline.step_s == 6.0
    assert timeline.bubble_share == pytest.approx(1 - (5 + 3) / 12)
    assert timeline.in_flight == (2, 1)
    assert [event.stage for event in timeline.events[:3]] == [0, 0, 1]


def test_the_trace_has_a_process_a_replica_and_a_thread_a_stage():
    step = MeasuredStep(3, Grid(2, 2, "stages"), (FIRST, FIRST, LAST, LAST))
    events = step.chrome_trace()["traceEvents"]
    work = [event for event in events if event["ph"] == "X"]
    assert {(event["pid"], event["tid"]) for event in work} == {(0, 0), (1, 0), (0, 1), (1, 1)}
    assert {"name": "backward 1", "ts": 4e6, "dur": 2e6}.items() <= work[3].items()


def test_a_step_of_one_process_is_gathered_as_it_is():
    assert gather_step(7, FIRST, World()) == MeasuredStep(7, Grid(), (FIRST,))


def test_a_stopwatch_counts_the_micro_batches_of_each_chunk_by_itself():
    watch = Stopwatch()
    passes: list[tuple[Kind, int]] = [("forward", 0), ("forward", 1), ("forward", 0), ("backward", 1)]
    for kind, chunk in passes:
        with watch.computing(kind, chunk=chunk):
            pass
    assert [(span.kind, span.chunk, span.micro_batch) for span in watch.spans] == [
        ("forward", 0, 0),
        ("forward", 1, 0),
        ("forward", 0, 1),
        ("backward", 1, 0),
    ]
    watch.start()
    assert watch.times().to_numbers() == [0.0] * 4


def test_an_engine_keeps_the_last_of_its_largest_steps(make_engine, cut):
    engine = make_engine()
    for step, sizes in enumerate(([6, 6], [4, 8])):
        engine.train_step(cut(sizes), step=step)
    (batch, _) = cut([6, 6])
    engine.train_step([batch], step=2)
    measured = engine.measured_step()
    assert measured.step == 1
    assert [span.kind for span in measured.spans[0]] == ["forward", "backward"] * 2
    assert np.isclose(measured.timeline().bubble_share, 0.0, atol=0.2)


def test_what_is_computed_after_a_step_is_no_part_of_it(make_engine, cut):
    engine = make_engine()
    engine.train_step(cut([6, 6]), step=0)
    with engine.parts.stopwatch.computing("forward"):  # as a pipeline's evaluation is
        pass
    assert len(engine.measured_step().spans[0]) == 4
