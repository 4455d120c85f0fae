"""Plans for given grids, the search for the fastest, and what is said of one device."""

import json
import math
import time
from dataclasses import replace

import pytest
from layer_stacks import DEVICE, layer, like_blocks, plan_for

from ernie_pp.errors import ConfigError
from ernie_pp.partition.costs import DeviceCosts, Link
from ernie_pp.partition.formula import Shape, Speed, formula_costs
from ernie_pp.partition.plan import nowhere_fits, search, why_one_device
from ernie_pp.partition.plan_record import Plan

DEVICE_LIKE_A_GPU = DeviceCosts(
    base_bytes=1 << 30, state_factor=4, update_s_per_byte=1e-11, step_s=1e-3, reduce_bytes_per_s=1e10
)


def _ernie(rows, *, num_layers=24, vocab_size=40_000):
    shape = Shape(
        num_layers=num_layers,
        hidden_size=1024,
        num_heads=16,
        intermediate_size=4096,
        vocab_size=vocab_size,
        max_positions=2048,
        type_vocab=4,
        num_labels=2,
        rows=rows,
        length=512,
    )
    speed = Speed(flops_per_s=2e13, memory_bytes_per_s=5e11, layer_s=2e-5)
    return formula_costs(shape, speed=speed, link=Link(12e9, 2e-5), device=DEVICE_LIKE_A_GPU)


def _search(**changed):
    wanted = {"num_devices": 4, "batch_size": 16, "length": 512, "memory_bytes": 16 << 30}
    return search(_ernie, **(wanted | changed))


def test_a_step_is_the_timeline_the_sum_over_replicas_the_update_and_the_fixed_part():
    device = replace(DEVICE, update_s_per_byte=0.01, step_s=0.5, reduce_bytes_per_s=100.0)
    costs = like_blocks(2, weights=300, device=device)
    plan = plan_for(costs, stages=2, replicas=4, micro_batches=3, rows=5, length=7)
    # Forward and backward passes of 1.5 and 3 s above 1.1 and 2.2 s. The first stage: F0 F1 (to 3.0), waits for B0 of
    # the second (4.8), B0 F2 B1 (12.3), waits for the second's B2 (12.6), B2.
    assert plan.boundaries == (0, 2, 4)
    assert plan.step_s == pytest.approx(15.6 + 2 * 3 / 4 * 300 / 100 + 300 * 0.01 + 0.5)
    assert plan.tokens_per_s == pytest.approx(5 * 7 * 3 * 4 / plan.step_s)
    assert plan.bubble_share == pytest.approx(1 - 3 * (4.5 + 3.3) / (2 * 15.6))


def test_rows_that_are_missing_from_the_last_micro_batch_are_not_counted_as_done():
    plan = plan_for(like_blocks(2), micro_batches=3, rows=4, length=10, batch_size=9)
    assert plan.tokens_per_s == pytest.approx(90 / plan.step_s)


def test_given_boundaries_are_kept_and_recompute_what_memory_asks_for():
    costs = like_blocks(4, kept=100, again=10)
    wanted = {"stages": 2, "micro_batches": 4, "rows": 1, "length": 1}
    plan = plan_for(costs, **wanted, boundaries=(0, 4, 6), recompute="auto", memory_bytes=550)
    assert plan.boundaries == (0, 4, 6)
    assert plan.recomputed == (0,)


@pytest.mark.parametrize("boundaries", [(0, 6), (0, 3, 5), (1, 3, 6), (0, 0, 6), (0, 2, 4, 6)])
def test_boundaries_of_another_grid_are_refused(boundaries):
    with pytest.raises(ConfigError, match=r"parallel.boundaries\n.*expected 3 growing numbers from 0 to 6"):
        plan_for(like_blocks(4), stages=2, boundaries=boundaries, rows=1, length=1)


def test_boundaries_that_do_not_fit_are_refused():
    with pytest.raises(ConfigError, match="a stage needs more than the 30 B of a device"):
        costs = like_blocks(4, kept=10)
        plan_for(costs, stages=2, boundaries=(0, 5, 6), memory_bytes=30, rows=1, length=1)


def test_the_search_lists_plans_that_fit_fastest_first_and_covers_fewer_devices():
    plans = _search()
    assert [plan.step_s for plan in plans] == sorted(plan.step_s for plan in plans)
    assert max(max(plan.stage_bytes) for plan in plans) <= 16 << 30
    assert {plan.num_devices for plan in plans} == {1, 2, 3, 4}
    assert all(plan.rows_per_micro_batch * plan.micro_batches * plan.replicas == 16 for plan in plans)
    assert {plan.virtual_stages for plan in plans} > {1}
    assert all(plan.micro_batches % plan.stages == 0 for plan in plans if plan.virtual_stages > 1)


def test_the_search_is_no_worse_than_any_grid_tried_by_hand():
    best = _search()[0]
    for stages, replicas, rows in [(1, 4, 1), (1, 4, 2), (2, 2, 1), (2, 2, 2), (4, 1, 1), (4, 1, 4)]:
        count = 16 // (replicas * rows)
        grid = {"stages": stages, "replicas": replicas, "micro_batches": count, "rows": rows}
        plan = plan_for(_ernie(rows), **grid, length=512, recompute="auto", memory_bytes=16 << 30)
        assert plan.step_s >= best.step_s


def test_a_found_plan_is_the_one_that_its_own_settings_make():
    for plan in _search()[:5]:
        again = plan_for(
            _ernie(plan.rows_per_micro_batch),
            stages=plan.stages,
            replicas=plan.replicas,
            micro_batches=plan.micro_batches,
            virtual_stages=plan.virtual_stages,
            boundaries=plan.boundaries,
            recompute=plan.recomputed,
            rows=plan.rows_per_micro_batch,
            length=512,
            memory_bytes=16 << 30,
        )
        assert again == plan


def test_less_memory_means_fewer_plans_and_recomputing():
    rich, poor = _search(), _search(memory_bytes=7 << 29)
    assert len(poor) < len(rich)
    assert poor[0].recomputed
    assert poor[0].step_s > rich[0].step_s


@pytest.mark.parametrize("wrong", [{"num_devices": 0}, {"batch_size": 0}])
def test_a_search_for_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match="at least 1 each was expected"):
        _search(**wrong)


def test_a_search_for_16_devices_takes_seconds():
    begin = time.process_time()
    plans = _search(num_devices=16, batch_size=128, memory_bytes=8 << 30)
    assert time.process_time() - begin < 5
    assert plans[0].num_devices == 16


def test_a_vocabulary_of_250000_on_8_stages_and_2_replicas_is_planned():
    costs = _ernie(2, vocab_size=250_000)
    grid = {"stages": 8, "replicas": 2, "micro_batches": 16, "rows": 2}
    plan = plan_for(costs, **grid, length=512, memory_bytes=16 << 30, recompute="auto")
    assert len(plan.boundaries) == 9
    assert plan.boundaries[1] - plan.boundaries[0] < 4


def test_one_device_that_would_do_is_told_with_its_speed():
    plans = _search()
    alone = next(plan for plan in plans if plan.num_devices == 1)
    said = why_one_device(plans, cost_of=_ernie, memory_bytes=16 << 30)
    assert f"would do, at {alone.tokens_per_s:,.0f} tokens/s" in said
    assert f"{plans[0].tokens_per_s / alone.tokens_per_s:.2f} times as fast on 4" in said


def test_one_device_that_would_not_do_is_told_what_it_lacks():
    said = why_one_device(_search(memory_bytes=4 << 30), cost_of=_ernie, memory_bytes=4 << 30)
    assert said.startswith("One device would not do: even with one row a micro-batch and blocks recomputed it needs 6.")
    assert "more than the 4 GiB it has" in said


def test_where_one_device_is_fastest_it_says_so():
    def cost_of(rows):
        return like_blocks(2, head=layer("head", 100.0, 200.0, can_recompute=False), link=Link(1.0, 1000.0))

    plans = search(cost_of, num_devices=2, batch_size=1, length=1, memory_bytes=None)
    assert why_one_device(plans, cost_of=cost_of, memory_bytes=None).startswith("One device does it best: ")


def test_where_no_grid_fits_the_list_is_empty_and_the_error_says_by_how_much():
    assert _search(memory_bytes=1 << 30) == []
    error = nowhere_fits(_ernie, num_devices=2, memory_bytes=1 << 30)
    assert "cut over 2 devices" in error.what
    assert error.what.endswith("GiB more")


def test_a_plan_survives_its_file():
    for plan in _search()[:3]:
        assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def _changed(values, name, value):
    changed = {**values, name: value}
    return {key: one for key, one in changed.items() if one is not ...}


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("stages", ..., "lacks stages"),
        ("speed", 1, "has the unknown key speed"),
        ("stages", 2.0, "stages is 2.0, expected a whole number of at least 1"),
        ("replicas", True, "replicas is True, expected a whole number"),
        ("replicas", 0, "replicas is 0"),
        ("schedule", "gpipe", "schedule is 'gpipe', expected one of: 1f1b, f_then_b"),
        ("step_s", "1", "step_s is '1', expected a number of at least 0"),
        ("step_s", float("nan"), "step_s is nan"),
        ("step_s", -1.0, "step_s is -1.0"),
        ("boundaries", [0, 4, 4], "growing numbers from 0"),
        ("boundaries", [0, 6], "boundaries has 2 numbers, the grid asks for 3"),
        ("transfer_s", [], "transfer_s has 0 numbers, the grid asks for 1"),
        ("stage_bytes", [1, 2.5], "a list of whole numbers"),
        ("recomputed", [4], "recomputed names block 4, the cut has 4 blocks"),
    ],
)
def test_a_file_that_is_no_plan_is_refused(name, value, words):
    plan = plan_for(like_blocks(4), stages=2, rows=1, length=1)
    with pytest.raises(ConfigError, match=f"run/plan.json\n  .*{words}"):
        Plan.from_json(_changed(plan.to_json(), name, value), where="run/plan.json")


def test_something_else_than_an_object_is_refused():
    with pytest.raises(ConfigError, match="holds a list, an object was expected"):
        Plan.from_json([])


def test_of_equally_fast_plans_those_with_fewer_devices_then_fewer_stages_come_first():
    free = like_blocks(2, embeddings=layer(forward_s=0.0, backward_s=0.0), head=layer(forward_s=0.0, backward_s=0.0))
    free = replace(free, layers=tuple(replace(one, forward_s=0.0, backward_s=0.0) for one in free.layers))
    free = replace(free, link=Link(bytes_per_s=math.inf), device=replace(DEVICE, reduce_bytes_per_s=math.inf))
    plans = search(lambda rows: free, num_devices=4, batch_size=2, length=1, memory_bytes=None)
    assert {plan.step_s for plan in plans} == {0.0}
    order = [(plan.num_devices, plan.stages) for plan in plans]
    assert order == sorted(order) and {(1, 1), (2, 1), (2, 2), (4, 2), (4, 4)} <= set(order)


def test_a_step_of_very_many_rows_is_planned_in_bounded_time():
    plans = _search(batch_size=65536, num_devices=64)
    assert plans and max(plan.micro_batches for plan in plans) <= 128


def test_many_micro_batches_are_looked_at_where_only_single_rows_fit():
    (alone,) = {plan.stage_bytes[0] for plan in _search(batch_size=1, num_devices=1, memory_bytes=None)}
    assert {plan.micro_batches for plan in _search(batch_size=251, num_devices=1, memory_bytes=None)} == {
        1
    }  # a prime: all rows, or one
    assert {plan.micro_batches for plan in _search(batch_size=251, num_devices=1, memory_bytes=alone)} == {251}
