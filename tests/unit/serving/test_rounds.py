"""Requests in rounds: every one gets its answers, and a short one does not wait for a long one."""

import numpy as np
import pytest

from ernie_pp.data.token_rows import TokenRows
from ernie_pp.serving.rounds import LEAST_SHARE, MOST_SHARE, ROUND_TOKENS, Rounds


class CountedWork:
    """Rows of equal length whose answers are their first ids."""

    def __init__(self, first, num_rows, length):
        self.ids, self.length, self.given, self.found = list(range(first, first + num_rows)), length, 0, []

    @property
    def progress(self):
        return len(self.found), len(self.ids)

    @property
    def is_done(self):
        return len(self.found) == len(self.ids)

    def next(self, max_tokens):
        count = max(1, max_tokens // self.length)
        ids = self.ids[len(self.found) : len(self.found) + count]
        self.given = max(self.given, len(ids) * self.length)
        tokens = np.repeat(np.array(ids, np.int32), self.length)
        starts = np.arange(len(ids) + 1, dtype=np.int64) * self.length
        return TokenRows(tokens, np.zeros(len(tokens), np.int8), starts, np.zeros(len(ids), np.int32))

    def take(self, answers):
        self.found.extend(answers)


@pytest.fixture
def rounds():
    sizes = []

    def answers(rows):
        sizes.append(len(rows.ids))
        return [int(one) for one in rows.ids[rows.row_starts[:-1]]]

    made = Rounds(answers)
    made.sizes = sizes
    return made


def _finish(rounds, limit=1000):
    order = []
    while len(rounds):
        order.append([one.number for one in rounds.step() if one.is_done])
        assert len(order) < limit
    return order


def test_every_request_gets_the_answers_of_its_own_rows(rounds):
    works = [CountedWork(1000 * number, 3 + 7 * number, 16 + number) for number in range(20)]
    for number, work in enumerate(works):
        rounds.add(number, work)
    done = [number for numbers in _finish(rounds) for number in numbers]
    assert sorted(done) == list(range(20)) and all(work.found == work.ids for work in works)
    assert max(rounds.sizes) <= ROUND_TOKENS + MOST_SHARE


def test_a_short_request_is_done_in_the_round_it_comes_to(rounds):
    long = CountedWork(0, 10_000, 64)
    rounds.add(1, long)
    rounds.step()
    rounds.add(2, CountedWork(90_000, 4, 10))
    assert [one.number for one in rounds.step() if one.is_done] == [2]
    assert not long.is_done and long.given <= MOST_SHARE


def test_many_requests_share_a_round_and_none_is_left_out(rounds):
    for number in range(64):
        rounds.add(number, CountedWork(number * 100, 40, 100))
    parts = [{one.number for one in rounds.step()} for _ in range(64 * LEAST_SHARE // ROUND_TOKENS)]
    assert set().union(*parts) == set(range(64))


def test_what_is_dropped_is_not_computed(rounds):
    dropped = CountedWork(0, 1000, 64)
    rounds.add(1, dropped)
    rounds.add(2, CountedWork(90_000, 1000, 64))
    rounds.step()
    rounds.drop(1)
    before = len(dropped.found)
    assert [number for numbers in _finish(rounds) for number in numbers] == [2] and len(dropped.found) == before
