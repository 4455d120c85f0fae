import numpy as np
import pytest

from ernie_pp.data.token_rows import TokenRows
from ernie_pp.text import EncodedRows


@pytest.fixture
def rows():
    return TokenRows(
        ids=np.array([1, 5, 2, 1, 7, 2, 8, 2, 1, 2], np.int32),
        type_ids=np.array([0, 0, 0, 0, 0, 0, 1, 1, 0, 0], np.int8),
        row_starts=np.array([0, 3, 8, 10]),
        num_cut=np.array([0, 4, 0], np.int32),
        targets=np.array([0, 1, 1]),
    )


def test_rows_stand_one_after_the_other_in_flat_arrays(rows):
    assert len(rows) == 3
    assert rows.lengths.tolist() == [3, 5, 2]
    assert rows.token_places(np.array([2, 0])).tolist() == [8, 9, 0, 1, 2]


def test_rows_of_the_tokenizer_are_taken_whole(rows):
    encoded = EncodedRows(
        ids=rows.ids,
        type_ids=rows.type_ids.astype(np.int32),
        offsets=None,
        row_starts=rows.row_starts,
        num_cut=rows.num_cut.astype(np.int64),
    )
    taken = TokenRows.from_encoded(encoded).with_targets(rows.targets)
    for name in ("ids", "type_ids", "row_starts", "num_cut", "targets"):
        one, other = getattr(taken, name), getattr(rows, name)
        assert one.dtype == other.dtype and np.array_equal(one, other)


def test_selected_rows_come_in_the_order_asked_for(rows):
    chosen = rows.select(np.array([2, 1, 2]))
    assert chosen.ids.tolist() == [1, 2, 1, 7, 2, 8, 2, 1, 2]
    assert chosen.lengths.tolist() == [2, 5, 2]
    assert chosen.num_cut.tolist() == [0, 4, 0]
    assert chosen.targets.tolist() == [1, 1, 1]
    assert len(rows.select(np.array([], dtype=np.int64))) == 0


def test_targets_can_be_replaced_and_dropped(rows):
    assert rows.with_targets(None).targets is None
    assert rows.with_targets(np.zeros((3, 2), np.float32)).select(np.array([1])).targets.shape == (1, 2)


def test_no_rows_at_all_are_rows_too():
    none = np.zeros(0, np.int32)
    assert len(TokenRows(none, none.astype(np.int8), np.zeros(1, np.int64), none)) == 0


@pytest.mark.parametrize("starts", [[0, 3, 8, 11], [1, 3, 8, 10], [0, 8, 3, 10], [0, 3, 10]])
def test_arrays_that_do_not_fit_are_refused(rows, starts):
    with pytest.raises(ValueError, match="do not fit"):
        TokenRows(rows.ids, rows.type_ids, np.array(starts), rows.num_cut)
