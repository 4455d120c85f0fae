"""A step's timeline: efficiency, order, memory."""

from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.errors import ConfigError
from ernie_pp.partition.order import Pipeline, held_chunks
from ernie_pp.partition.simulate import simulate


def _equal(schedule, *, stages, count, chunks=1, transfer_s=0.0):
    parts = stages * chunks
    pipeline = Pipeline(stages, count, schedule, chunks)
    times = {"forward_s": [1.0] * parts, "backward_s": [2.0] * parts}
    return simulate(pipeline, **times, transfer_s=[transfer_s] * (parts - 1))


@pytest.mark.parametrize("schedule", ["1f1b", "f_then_b"])
@pytest.mark.parametrize("stages, count", [(1, 5), (2, 16), (3, 2), (4, 32), (8, 8)])
def test_equal_stages_reach_m_of_m_plus_p_minus_1(schedule, stages, count):
    line = _equal(schedule, stages=stages, count=count)
    assert line.step_s == 3.0 * (count + stages - 1)
    assert 1 - line.bubble_share == pytest.approx(count / (count + stages - 1), rel=1e-12)


def test_32_micro_batches_on_4_stages_are_914_permille_efficient():
    assert round(1 - _equal("1f1b", stages=4, count=32).bubble_share, 3) == 0.914


def test_1f1b_holds_as_many_micro_batches_as_there_are_stages_from_here_on():
    assert _equal("1f1b", stages=4, count=32).in_flight == (4, 3, 2, 1)
    assert _equal("1f1b", stages=4, count=2).in_flight == (2, 2, 2, 1)
    assert _equal("f_then_b", stages=4, count=32).in_flight == (32, 32, 32, 32)


@pytest.mark.parametrize("schedule", ["1f1b", "f_then_b"])
@pytest.mark.parametrize("stages, count, chunks", [(3, 6, 2), (4, 16, 2), (4, 8, 3)])
def test_chunks_shrink_the_bubble_by_their_number(schedule, stages, count, chunks):
    line = _equal(schedule, stages=stages, count=count, chunks=chunks)
    work = 3.0 * chunks * count
    assert line.step_s - work == 3.0 * (stages - 1)
    assert (line.step_s - work) / work == pytest.approx((stages - 1) / (chunks * count))


def test_a_transfer_is_waited_for_on_the_way_down_and_up_only():
    # One micro-batch has nothing to hide a transfer behind.
    assert _equal("1f1b", stages=3, count=1, transfer_s=0.5).step_s == 9.0 + 4 * 0.5


def test_messages_of_a_link_follow_each_other():
    line = simulate(Pipeline(2, 3, "f_then_b"), forward_s=[1.0, 1.0], backward_s=[1.0, 1.0], transfer_s=[4.0])
    starts = [event.start_s for event in line.events if event.stage == 1 and event.kind == "forward"]
    assert starts == [5.0, 9.0, 13.0]


def test_a_slow_micro_batch_is_counted_where_it_is():
    times = [[1.0, 9.0, 1.0], [1.0, 1.0, 1.0]]
    line = simulate(Pipeline(2, 3), forward_s=times, backward_s=[0.0, 0.0], transfer_s=[0.0])
    assert line.step_s == 12.0
    assert [event.end_s for event in line.events if event.stage == 0 and event.kind == "forward"] == [1.0, 10.0, 11.0]


@st.composite
def _pipelines(draw):
    chunks = draw(st.integers(1, 3))
    stages = draw(st.integers(1, 5)) if chunks == 1 else draw(st.integers(3, 5))
    count = draw(st.integers(1, 9)) if chunks == 1 else stages * draw(st.integers(2, 3))
    return Pipeline(stages, count, draw(st.sampled_from(["1f1b", "f_then_b"])), chunks)


def _random_line(pipeline, data):
    eighths = st.integers(0, 40).map(lambda number: number / 8)
    rows = st.lists(eighths, min_size=pipeline.num_micro_batches, max_size=pipeline.num_micro_batches)
    tables = st.lists(rows, min_size=pipeline.num_parts, max_size=pipeline.num_parts)
    transfer_s = data.draw(st.lists(eighths, min_size=pipeline.num_parts - 1, max_size=pipeline.num_parts - 1))
    times = {"forward_s": data.draw(tables), "backward_s": data.draw(tables)}
    return simulate(pipeline, **times, transfer_s=transfer_s), transfer_s


@settings(deadline=None, max_examples=150)
@given(_pipelines(), st.data())
def test_every_pass_happens_once_after_what_it_needs_and_no_stage_does_two_things_at_once(pipeline, data):
    line, transfer_s = _random_line(pipeline, data)
    by_work = {(one.kind, one.chunk * pipeline.num_stages + one.stage, one.micro_batch): one for one in line.events}
    assert len(by_work) == len(line.events) == 2 * pipeline.num_parts * pipeline.num_micro_batches
    for (kind, part, count), event in by_work.items():
        if kind == "forward" and part > 0:
            assert event.start_s >= by_work["forward", part - 1, count].end_s + transfer_s[part - 1]
        if kind == "backward":
            assert event.start_s >= by_work["forward", part, count].end_s
        if kind == "backward" and part < pipeline.num_parts - 1:
            assert event.start_s >= by_work["backward", part + 1, count].end_s + transfer_s[part]
    stages = defaultdict(list)
    for event in line.events:
        stages[event.stage].append(event)
    for events in stages.values():
        assert all(one.end_s <= two.start_s for one, two in pairwise(events))
    assert line.step_s == max(event.end_s for event in line.events)


@settings(deadline=None, max_examples=100)
@given(_pipelines(), st.data())
def test_no_stage_ever_holds_more_than_is_counted_for_its_memory(pipeline, data):
    line, _ = _random_line(pipeline, data)
    for stage in range(pipeline.num_stages):
        counts, most, moments = [0] * pipeline.virtual_stages, 0, held_chunks(pipeline, stage)
        for event in (one for one in line.events if one.stage == stage):
            counts[event.chunk] += 1 if event.kind == "forward" else -1
            most = max(most, sum(counts))
            assert any(all(map(int.__le__, counts, moment)) for moment in moments)
        assert line.in_flight[stage] == most == max(map(sum, moments))


@pytest.mark.parametrize(
    "changed, error, words",
    [
        ({"forward_s": [1.0]}, ValueError, "forward_s has 1 parts, expected stages x virtual stages: 2"),
        ({"backward_s": [[1.0], [1.0, 2.0]]}, ValueError, r"backward_s has rows of \[1, 2\] numbers, expected 4"),
        ({"transfer_s": []}, ValueError, "transfer_s has 0 numbers, expected one a boundary: 1"),
        ({"pipeline": Pipeline(2, 0)}, ConfigError, "parallel.micro_batches"),
        ({"pipeline": Pipeline(2, 4, "1f1b", 2)}, ConfigError, "Fleet interleaves 3 stages or more"),
        ({"pipeline": Pipeline(3, 4, "1f1b", 2)}, ConfigError, "is 4, virtual stages need a multiple of the 3 stages"),
    ],
)
def test_numbers_that_do_not_go_together_are_refused(changed, error, words):
    right = {"forward_s": [1.0] * 2, "backward_s": [1.0] * 2, "transfer_s": [0.0]}
    right |= {"pipeline": Pipeline(2, 4)}
    with pytest.raises(error, match=words):
        simulate(**(right | changed))
