"""Targets of many numbers a row."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ernie_pp.data.row_targets import RowTargets


def _targets(rows, filler=-100):
    counts = [len(one) for one in rows]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return RowTargets(np.array([one for row in rows for one in row], np.int64), starts, filler)


def _rows(targets):
    return [targets.values[a:b].tolist() for a, b in zip(targets.starts, targets.starts[1:], strict=False)]


@given(rows=st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=1), data=st.data())
def test_named_rows_come_in_the_order_they_are_named(rows, data):
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1)))
    picked = _targets(rows)[np.array(chosen, np.int64)]
    assert _rows(picked) == [rows[index] for index in chosen]
    assert len(picked) == len(chosen) and picked.filler == -100


@given(rows=st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=1))
def test_padding_stands_behind_the_last_entry_of_a_row(rows):
    width = max(1, *map(len, rows))
    assert _targets(rows).padded().tolist() == [row + [-100] * (width - len(row)) for row in rows]


def test_entries_of_several_numbers_are_padded_whole():
    targets = RowTargets(np.array([[0, 1, 2], [1, 3, 4], [2, 5, 6]]), np.array([0, 0, 2, 3]), -1)
    table = targets[np.array([2, 0, 1])].padded()
    assert table.tolist() == [
        [[2, 5, 6], [-1, -1, -1]],
        [[-1, -1, -1], [-1, -1, -1]],
        [[0, 1, 2], [1, 3, 4]],
    ]


def test_rows_without_any_entry_keep_one_place():
    targets = RowTargets(np.zeros((0, 3), np.int64), np.array([0, 0, 0]), -1)
    assert targets.padded().tolist() == [[[-1, -1, -1]], [[-1, -1, -1]]]
