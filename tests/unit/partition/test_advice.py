"""Where nothing fits, the error says by how much, and what it advises does help."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layer_stacks import DEVICE, layer, like_blocks, odd_stacks, solve_for

from ernie_pp.errors import ConfigError
from ernie_pp.partition.cut import best_cut, least_needs
from ernie_pp.partition.order import Pipeline
from ernie_pp.partition.parts import Parts, Wanted

WANTED = {"stages": 2, "micro_batches": 4}


def _refusal(costs, **wanted):
    with pytest.raises(ConfigError) as caught:
        solve_for(costs, **(WANTED | wanted))
    return caught.value


def test_the_least_need_and_what_it_is_above_the_limit_are_told():
    # Embeddings with 4 MiB of state and one block twice on stage 0, then seven blocks on stage 1.
    costs = like_blocks(8, embeddings=layer("embeddings", weights=1 << 20, can_recompute=False), kept=1 << 20)
    error = _refusal(costs, memory_bytes=6 << 20)
    needs = r"is 6 MiB of a device; stage 1 of 2 needs 7 MiB even in the cut that needs the least, 1 MiB more"
    assert re.search(needs, error.what)
    assert solve_for(costs, **WANTED, memory_bytes=7 << 20).stage_bytes == (6 << 20, 7 << 20)


@settings(deadline=None, max_examples=100)
@given(odd_stacks(), st.integers(1, 4), st.integers(1, 5), st.sampled_from(["none", "all", "auto"]))
def test_the_need_that_is_told_is_enough_and_a_byte_less_is_not(costs, stages, count, recompute):
    pipeline = Pipeline(min(stages, len(costs.layers)), count)
    need = int(max(least_needs(Parts(costs, Wanted(pipeline, 1 << 62, recompute)))))
    cut = best_cut(Parts(costs, Wanted(pipeline, need, recompute)))
    assert cut is not None
    assert max(cut.stage_bytes) == need
    assert best_cut(Parts(costs, Wanted(pipeline, need - 1, recompute))) is None


def test_each_change_named_makes_it_fit_and_the_fastest_is_first():
    costs = like_blocks(8, kept=1000, again=10)
    error = _refusal(costs, memory_bytes=4000)
    _, *changes = error.do.splitlines()
    seconds = [float(re.search(r"about (\S+) s", change).group(1)) for change in changes]
    assert len(changes) == 3
    assert seconds == sorted(seconds)
    assert any("parallel.recompute: auto" in change for change in changes)
    stages = int(re.search(r"parallel.stages: (\d+)", error.do).group(1))
    assert solve_for(costs, **(WANTED | {"stages": stages}), memory_bytes=4000)
    with pytest.raises(ConfigError):
        solve_for(costs, **(WANTED | {"stages": stages - 1}), memory_bytes=4000)
    assert solve_for(costs, **WANTED, memory_bytes=4000, recompute="auto").recomputed


def test_a_smaller_micro_batch_is_advised_by_its_share_of_the_rows():
    costs = like_blocks(2, kept=1000)
    error = _refusal(costs, memory_bytes=600, stages=1, recompute="all")
    assert re.search(r"micro-batches of 1/2 of the rows, parallel.micro_batches: 8 \(a step", error.do)
    assert "Alone this does not help: recompute (in use already), more stages." in error.do


def test_what_does_not_help_is_said():
    heavy = layer("embeddings", weights=1000, can_recompute=False)
    error = _refusal(like_blocks(4, embeddings=heavy, kept=1, device=replace(DEVICE, base_bytes=7)), memory_bytes=3000)
    assert error.do == "Alone this does not help: recompute, a smaller micro-batch, more stages."


def test_two_changes_together_are_advised_where_one_is_not_enough():
    costs = like_blocks(4, weights=100, kept=1000, again=900)
    error = _refusal(costs, memory_bytes=5000, stages=1)
    assert "Alone this does not help: recompute" in error.do
    assert "with parallel.recompute: auto" in error.do
