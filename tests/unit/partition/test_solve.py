"""The cut is the best there is, fits into memory, and recomputes no more than memory asks for."""

import random
import time
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from layer_stacks import DEVICE, layer, like_blocks, odd_stacks, solve_for, stack

from ernie_pp.errors import ConfigError
from ernie_pp.partition.costs import Link


def _subsets(indexes):
    return [subset for size in range(len(indexes) + 1) for subset in combinations(indexes, size)]


def _seconds(costs, start, end, again):
    layers, num_layers = costs.layers[start:end], len(costs.layers)
    waits = [costs.link.transfer_s(costs.layers[at - 1].output_bytes) for at in (start, end) if 0 < at < num_layers]
    own = sum(one.forward_s + one.backward_s for one in layers) + sum(costs.layers[i].forward_s for i in again)
    return own + sum(waits)


def _bytes(costs, start, end, again, held):
    kept = sum(
        one.recomputed_bytes if index in again else one.activation_bytes
        for index, one in enumerate(costs.layers[start:end], start)
    )
    working = max((costs.layers[index].activation_bytes for index in again), default=0)
    weights = sum(one.parameter_bytes for one in costs.layers[start:end])
    return costs.device.base_bytes + weights * costs.device.state_factor + held * kept + working


def _best_stage(costs, start, end, held, limit, choices):
    """Least seconds of a stage over all choices that fit, None where none does."""
    able = [subset for subset in choices if limit is None or _bytes(costs, start, end, subset, held) <= limit]
    return min((_seconds(costs, start, end, subset) for subset in able), default=None)


def _choices(costs, start, end, recompute, limit):
    able = [index for index in range(start, end) if costs.layers[index].can_recompute]
    if recompute == "all":
        return [tuple(able)]
    return _subsets(able) if recompute == "auto" and limit is not None else [()]


def _brute_force(costs, *, num_stages, num_micro_batches, limit, recompute):
    """Least seconds of the slowest stage over all cuts and all subsets to recompute."""
    num_layers, known = len(costs.layers), {}

    def stage_s(stage, start, end):
        held = min(num_stages - stage, num_micro_batches)
        key = (held, start, end)
        if key not in known:
            choices = _choices(costs, start, end, recompute, limit)
            known[key] = _best_stage(costs, start, end, held, limit, choices)
        return known[key]

    best = None
    for inner in combinations(range(1, num_layers), num_stages - 1):
        bounds = (0, *inner, num_layers)
        times = [stage_s(stage, *bounds[stage : stage + 2]) for stage in range(num_stages)]
        if None not in times and (best is None or max(times) < best):
            best = max(times)
    return best


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(odd_stacks(), st.integers(1, 5), st.integers(1, 7), st.sampled_from(["none", "all", "auto"]), st.data())
def test_it_equals_brute_force_over_all_cuts_and_recomputed_blocks(costs, stages, count, recompute, data):
    stages = min(stages, len(costs.layers))
    limit = data.draw(st.one_of(st.none(), st.integers(10, 400), st.integers(400, 6000)), label="memory")
    expected = _brute_force(costs, num_stages=stages, num_micro_batches=count, limit=limit, recompute=recompute)
    wanted = {"stages": stages, "micro_batches": count, "memory_bytes": limit, "recompute": recompute}
    if expected is None:
        with pytest.raises(ConfigError, match=r"parallel\.memory\n"):
            solve_for(costs, **wanted)
        return
    cut = solve_for(costs, **wanted)
    assert cut.slowest_s == expected
    for stage, (start, end) in enumerate(zip(cut.boundaries, cut.boundaries[1:], strict=False)):
        again = tuple(index for index in cut.recomputed if start <= index < end)
        assert cut.stage_bytes[stage] == _bytes(costs, start, end, again, min(stages - stage, count))
        assert _seconds(costs, start, end, again) <= expected
        assert limit is None or cut.stage_bytes[stage] <= limit
        assert end > start


def test_a_head_heavier_than_all_blocks_has_a_stage_of_its_own():
    heavy = layer("head", 50.0, 100.0, can_recompute=False)
    cut = solve_for(like_blocks(4, head=heavy), stages=3, micro_batches=8)
    assert cut.boundaries[-2:] == (5, 6)
    assert cut.slowest_s == 150.0


@pytest.mark.parametrize("num_blocks, stages", [(12, 8), (24, 8)])
def test_blocks_that_do_not_divide_are_cut_as_evenly_as_can_be(num_blocks, stages):
    vocabulary = layer("head", 3.0, 6.0, can_recompute=False)
    cut = solve_for(like_blocks(num_blocks, head=vocabulary), stages=stages, micro_batches=8)
    assert cut.slowest_s == {12: 9.0, 24: 12.0}[num_blocks]


def test_a_link_that_is_slow_moves_the_cut_to_where_little_is_handed_on():
    layers = [layer(out=800), layer(out=800), layer(out=8), layer()]
    assert solve_for(stack(*layers), stages=2, micro_batches=4).boundaries == (0, 2, 4)
    slow = stack(*layers, link=Link(bytes_per_s=100.0))
    assert solve_for(slow, stages=2, micro_batches=4).boundaries == (0, 3, 4)


def test_of_equally_fast_cuts_the_one_with_less_memory_is_taken():
    heavy = layer("head", 9.0, 0.0, can_recompute=False)
    layers = [layer(kept=100), layer(kept=100), layer(kept=100), layer("head", 9.0, 0.0)]
    cut = solve_for(stack(*layers[:3], heavy), stages=3, micro_batches=3)
    assert cut.boundaries == (0, 1, 3, 4)
    assert cut.stage_bytes == (300, 400, 0)


def test_only_as_many_blocks_are_recomputed_as_memory_asks_for_on_the_stages_that_ask():
    costs = like_blocks(8, kept=100, again=10)
    free = solve_for(costs, stages=2, micro_batches=4, memory_bytes=1000, recompute="auto")
    assert free.recomputed == ()
    # Stage 0 holds two micro-batches of four blocks: 800. One recomputed saves 180 and works with 100.
    tight = solve_for(costs, stages=2, micro_batches=4, memory_bytes=750, recompute="auto")
    assert len(tight.recomputed) == 1
    assert tight.recomputed[0] < tight.boundaries[1]
    assert sum(tight.part_backward_s) == sum(free.part_backward_s) + 1.0


def test_named_blocks_are_recomputed_with_and_without_a_limit():
    costs = like_blocks(4, kept=100, again=10)
    for memory in (None, 10_000):
        cut = solve_for(costs, stages=1, micro_batches=4, memory_bytes=memory, recompute=(0, 3))
        assert cut.recomputed == (1, 4)
        assert cut.stage_bytes == (2 * 100 + 2 * 10 + 100,)


@pytest.mark.parametrize("limits", [None, 300_000])
@pytest.mark.parametrize("alike", [True, False])
def test_a_thousand_layers_on_64_stages_take_under_a_second(alike, limits):
    costs = like_blocks(998, weights=1000, kept=500, again=20, out=20, link=Link(1e3, 0.001))
    if not alike:
        draw = random.Random(0)
        layers = [replace(one, forward_s=draw.uniform(0.5, 1.5), backward_s=draw.random()) for one in costs.layers]
        costs = replace(costs, layers=tuple(layers))
    # Of this thread alone: libraries that other tests have loaded keep threads of their own busy.
    begin = time.thread_time()
    cut = solve_for(costs, stages=64, micro_batches=64, memory_bytes=limits, recompute="auto")
    assert time.thread_time() - begin < 1.0
    assert bool(cut.recomputed) == (limits is not None)


def test_memory_of_interleaved_chunks_is_that_of_the_fullest_moment():
    costs = like_blocks(4, embeddings=layer(kept=1), head=layer(kept=1), kept=1)
    cut = solve_for(costs, stages=3, micro_batches=6, virtual_stages=2)
    assert cut.boundaries == (0, 1, 2, 3, 4, 5, 6)
    assert cut.stage_bytes == (8, 6, 4)


@settings(deadline=None, max_examples=60)
@given(odd_stacks().filter(lambda costs: len(costs.layers) >= 6))
def test_without_a_limit_the_slowest_chunk_is_as_fast_as_in_any_cut(costs):
    cut = solve_for(costs, stages=3, micro_batches=6, virtual_stages=2)
    cuts = ((0, *inner, len(costs.layers)) for inner in combinations(range(1, len(costs.layers)), 5))
    assert cut.slowest_s == min(max(_seconds(costs, *span, ()) for span in pairwise(bounds)) for bounds in cuts)


def test_chunks_under_a_limit_recompute_until_their_stage_fits():
    costs = like_blocks(10, kept=100, again=10, weights=5)
    free = solve_for(costs, stages=3, micro_batches=6, virtual_stages=2, recompute="auto")
    limit = max(free.stage_bytes) * 2 // 3
    cut = solve_for(costs, stages=3, micro_batches=6, virtual_stages=2, recompute="auto", memory_bytes=limit)
    assert max(cut.stage_bytes) <= limit
    assert cut.recomputed


@pytest.mark.parametrize(
    "wanted, words",
    [
        ({"stages": 5}, r"parallel\.stages\n.*cuts the model into 5 parts, it has 4 layers"),
        ({"stages": 0}, "parallel.stages\n.*is 0, at least 1"),
        ({"stages": 2, "recompute": (2,)}, "names block 2, the model has blocks 0 to 1"),
        ({"stages": 2, "recompute": "some"}, "is 'some', expected none, all, auto"),
        ({"stages": 2, "virtual_stages": 2}, "Fleet interleaves 3 stages or more"),
        ({"stages": 2, "memory_bytes": 0}, "is 0, at least one byte"),
        ({"stages": 2, "schedule": "gpipe"}, "expected one of: 1f1b, f_then_b"),
    ],
)
def test_settings_that_no_cut_has_are_refused(wanted, words):
    with pytest.raises(ConfigError, match=words):
        solve_for(like_blocks(2), micro_batches=8, **wanted)


def test_f_then_b_holds_every_micro_batch_on_every_stage():
    costs = like_blocks(2, kept=10)
    assert solve_for(costs, stages=2, micro_batches=5).stage_bytes == (20, 10)
    assert solve_for(costs, stages=2, micro_batches=5, schedule="f_then_b").stage_bytes == (50, 50)


def test_base_memory_counts_on_every_stage():
    costs = like_blocks(2, weights=25, device=replace(DEVICE, base_bytes=1000))
    assert solve_for(costs, stages=2, micro_batches=1).stage_bytes == (1100, 1100)
