"""A share of the training examples kept from training as dev."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ernie_pp.errors import DataError
from ernie_pp.jobs.holding_out import hold_out


def _hold_out(groups, *, share=0.25, seed=1):
    return hold_out(list(enumerate(groups)), groups, share=share, seed=seed, source="train.json")


@given(groups=st.lists(st.sampled_from("abcdefgh"), min_size=30, max_size=60), seed=st.integers(0, 20))
def test_no_group_stands_in_both_parts_and_nothing_is_lost(groups, seed):
    groups = [*groups, *"abcdefgh"]
    train, dev = _hold_out(groups, seed=seed)
    assert sorted(train + dev) == list(enumerate(groups))
    assert {group for _, group in train}.isdisjoint(group for _, group in dev)
    assert len({group for _, group in dev}) == 2


def test_both_parts_keep_the_order_of_the_examples():
    train, dev = _hold_out([f"d{number % 8}" for number in range(80)])
    assert train == sorted(train) and dev == sorted(dev)


@pytest.mark.parametrize("share, count", [(0.1, 4), (0.25, 10), (0.5, 20), (0.012, 0), (0.99, 40)])
def test_the_share_is_of_the_groups_to_the_nearest_number(share, count):
    groups = [f"d{number}" for number in range(40) for _ in range(1 + number % 5)]
    if not 0 < count < 40:
        with pytest.raises(DataError, match=rf"train.json\n.*has 40 different texts.* {share} holds out {count}"):
            _hold_out(groups, share=share)
        return
    _, dev = _hold_out(groups, share=share)
    assert len({group for _, group in dev}) == count


def test_the_same_seed_holds_out_the_same_and_another_seed_others():
    groups = [f"d{number}" for number in range(50)]
    assert _hold_out(groups, seed=3) == _hold_out(groups, seed=3)
    assert _hold_out(groups, seed=3)[1] != _hold_out(groups, seed=4)[1]


def test_more_examples_of_known_groups_change_no_groups():
    groups = [f"d{number}" for number in range(50)]
    few, many = _hold_out(groups)[1], _hold_out([*groups, *groups[::-1], *groups])[1]
    assert {group for _, group in few} == {group for _, group in many}


@pytest.mark.parametrize("groups", [[], ["a"], ["a"] * 9])
def test_one_group_cannot_be_divided(groups):
    with pytest.raises(DataError, match=r"different texts[\s\S]*Name a file of its own: data.dev"):
        _hold_out(groups, share=0.5)
