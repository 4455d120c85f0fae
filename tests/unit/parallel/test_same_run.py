"""Ranks of different runs that have met are told so."""

import json

import pytest

from ernie_pp.errors import RunError
from ernie_pp.parallel.same_run import check_same_run, find_stranger

OURS = {"train.epochs": "3", "seed": "42"}


def test_ranks_of_one_run_agree():
    assert find_stranger([OURS, dict(OURS), dict(OURS)]) is None


def test_the_first_rank_that_differs_is_named_with_what_differs():
    where, what = find_stranger([OURS, OURS, {"train.epochs": "5", "seed": "42", "new": "1"}])
    assert where == "rank 2"
    assert what == (
        "joined another run: its settings differ\nnew: None on rank 0, 1 there\ntrain.epochs: 3 on rank 0, 5 there"
    )


def test_many_differences_are_counted():
    _, what = find_stranger([{}, {f"key{number}": "1" for number in range(9)}])
    assert what.count(" on rank 0, ") == 5 and what.endswith("and 4 more")


class _Second:
    """The talk of a second rank: it hears what rank 0 has found."""

    def __init__(self, found):
        self.found = found

    def gather(self, value):
        assert json.loads(value) == OURS
        return []

    def broadcast(self, value):
        return json.dumps(self.found).encode()


def test_what_rank_0_finds_is_an_error_on_every_rank():
    check_same_run(_Second(None), OURS)
    with pytest.raises(RunError, match="rank 1\n  joined another run\n  Give every run a master address"):
        check_same_run(_Second(["rank 1", "joined another run"]), OURS)
