"""Ranks, parts and shares: every place has one rank, every layer one stage, every parameter one owner."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ernie_pp.parallel.topology import Grid, Layout, share_out

SMALL = st.integers(1, 6)


def test_by_fleets_order_a_replicas_stages_have_ranks_in_a_row():
    grid = Grid(stages=2, replicas=4)
    assert grid.ranks_of_stage(0) == [0, 2, 4, 6] and grid.ranks_of_replica(1) == [2, 3]


def test_by_stages_a_stages_replicas_have_ranks_in_a_row():
    grid = Grid(stages=2, replicas=4, order="stages")
    assert grid.ranks_of_stage(0) == [0, 1, 2, 3] and grid.ranks_of_stage(1) == [4, 5, 6, 7]


@given(SMALL, SMALL, st.sampled_from(["fleet", "stages"]))
def test_every_rank_has_a_place_of_its_own_and_is_found_there(stages, replicas, order):
    grid = Grid(stages, replicas, order)
    places = [(grid.stage_of(rank), grid.replica_of(rank)) for rank in range(grid.num_ranks)]
    assert sorted(places) == list(itertools.product(range(stages), range(replicas)))
    assert [grid.rank_of(stage=stage, replica=replica) for stage, replica in places] == list(range(grid.num_ranks))


@given(SMALL, st.integers(1, 3), st.data())
def test_the_parts_of_all_stages_are_all_layers_once(stages, chunks, data):
    num_layers = data.draw(st.integers(stages * chunks, 24))
    inner = st.lists(st.integers(0, num_layers), min_size=stages * chunks - 1, max_size=stages * chunks - 1)
    bounds = (0, *sorted(data.draw(inner)), num_layers)
    layout = Layout(bounds, virtual_stages=chunks)
    parts = [layout.parts_of(stage, num_stages=stages, num_layers=num_layers) for stage in range(stages)]
    assert {len(own) for own in parts} == {chunks}
    in_order = [parts[part % stages][part // stages] for part in range(stages * chunks)]
    assert list(itertools.chain(*in_order)) == list(range(num_layers))


def test_without_boundaries_one_part_is_the_whole_model():
    assert Layout().parts_of(0, num_stages=1, num_layers=7) == [range(7)]


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 100)), SMALL)
def test_shares_differ_by_no_more_than_the_largest_parameter(sizes, num_shares):
    owners = share_out(sizes, num_shares=num_shares)
    assert owners.keys() == sizes.keys()
    weights = [sum(size for name, size in sizes.items() if owners[name] == share) for share in range(num_shares)]
    assert max(weights) - min(weights) <= max(sizes.values(), default=0)


@pytest.mark.parametrize("names", itertools.permutations("abc"))
def test_the_owners_do_not_depend_on_the_order_of_the_names(names):
    assert share_out(dict.fromkeys(names, 5), num_shares=2) == {"a": 0, "b": 1, "c": 0}
