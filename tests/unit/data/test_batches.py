import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.data.batches import (
    StepCut,
    build_micro_batch,
    check_token_budget,
    cut_equal_micro_batches,
    cut_micro_batches,
    cut_step,
    order_for_evaluation,
)
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import ConfigError

LENGTHS = np.random.RandomState(1).randint(3, 64, size=200)


def token_rows(lengths, *, targets=None):
    """Row r consists of the id r + 1, with the second half of its tokens of type 1."""
    lengths = np.asarray(lengths)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    ids = np.repeat(np.arange(len(lengths)) + 1, lengths).astype(np.int32)
    type_ids = np.concatenate([np.arange(one) >= one // 2 for one in lengths]).astype(np.int8)
    return TokenRows(ids, type_ids, starts, np.zeros(len(lengths), np.int32), targets)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(30, 200))
def test_micro_batches_hold_the_budget_and_lose_no_row(lengths, max_tokens):
    lengths = np.array(lengths)
    rows = np.arange(len(lengths))[::-1]
    cut = cut_micro_batches(lengths, rows, max_tokens=max_tokens)
    assert sorted(np.concatenate(cut)) == sorted(rows)
    assert all(lengths[one].max() * len(one) <= max_tokens for one in cut)


def fewest(lengths, max_tokens):
    """The true minimum, by trying every cut of the sorted lengths."""
    lengths = sorted(lengths, reverse=True)
    best = [0] + [len(lengths)] * len(lengths)
    for end in range(1, len(lengths) + 1):
        fitting = (start for start in range(end) if lengths[start] * (end - start) <= max_tokens)
        best[end] = min(best[start] + 1 for start in fitting)
    return best[-1]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=25), st.integers(30, 90))
def test_micro_batches_are_as_few_as_possible(lengths, max_tokens):
    cut = cut_micro_batches(np.array(lengths), np.arange(len(lengths)), max_tokens=max_tokens)
    assert len(cut) == fewest(lengths, max_tokens)


def test_a_row_over_the_budget_is_named_as_a_setting():
    with pytest.raises(ConfigError, match=r"micro_batch_tokens\n  is 16, and the longest row has 20 tokens"):
        cut_micro_batches(np.array([3, 20]), np.array([0, 1]), max_tokens=16)
    with pytest.raises(ConfigError):
        check_token_budget(LENGTHS, max_tokens=10)
    check_token_budget(LENGTHS, max_tokens=64)


@pytest.mark.parametrize("num_rows", [2, 4, 31, 32])
def test_a_pipeline_gets_exactly_as_many_micro_batches_as_it_asks_for(num_rows):
    rows = np.arange(100, 100 + num_rows)
    cut = cut_equal_micro_batches(LENGTHS, rows, num_micro_batches=4)
    assert len(cut) == 4
    assert sorted(np.concatenate(cut)) == rows.tolist()
    assert max(map(len, cut)) - min(map(len, cut)) <= 1


def test_rows_are_padded_to_the_longest_of_the_micro_batch_only():
    rows = token_rows([4, 2, 9], targets=np.array([7, 8, 9]))
    batch = build_micro_batch(rows, np.array([1, 0]), pad_id=0)
    assert batch.input_ids.tolist() == [[2, 2, 0, 0], [1, 1, 1, 1]]
    assert batch.token_type_ids.tolist() == [[0, 1, 0, 0], [0, 0, 1, 1]]
    assert batch.targets is not None and batch.targets.tolist() == [8, 7]
    assert batch.row_indexes.tolist() == [1, 0]
    assert batch.input_ids.dtype == batch.token_type_ids.dtype == batch.row_indexes.dtype == np.int64


def test_padding_takes_the_models_own_id_and_unknown_targets_stay_unknown():
    batch = build_micro_batch(token_rows([1, 3]), np.array([0, 1]), pad_id=99)
    assert batch.input_ids.tolist() == [[1, 99, 99], [2, 2, 2]]
    assert batch.targets is None


def test_no_rows_make_an_empty_micro_batch():
    batch = build_micro_batch(token_rows([1, 3]), np.array([], dtype=np.int64), pad_id=0)
    assert batch.input_ids.shape == (0, 1)


def test_evaluation_results_go_back_into_the_users_order():
    rows = token_rows(LENGTHS)
    results = np.zeros(len(rows), dtype=np.int64)
    for chosen in order_for_evaluation(rows.lengths, max_tokens=512):
        batch = build_micro_batch(rows, chosen, pad_id=0)
        assert batch.input_ids.size <= 512
        results[batch.row_indexes] = batch.input_ids.max(axis=1)
    assert results.tolist() == list(range(1, len(rows) + 1))
    padded = sum(LENGTHS[one].max() * len(one) for one in order_for_evaluation(LENGTHS, max_tokens=512))
    assert padded < 1.1 * LENGTHS.sum()


def test_a_step_of_one_process_is_cut_by_the_budget_alone():
    rows = np.arange(len(LENGTHS))
    expected = cut_micro_batches(LENGTHS, rows, max_tokens=64)
    found = cut_step(LENGTHS, rows, StepCut(64))
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]


@pytest.mark.parametrize("cut", [StepCut(64, 2, 1), StepCut(64, 1, 3), StepCut(40, 4, 2), StepCut(10**6, 3, 2)])
def test_a_step_of_a_grid_gives_each_replica_as_many_micro_batches_within_the_budget(cut):
    lengths = np.random.default_rng(0).integers(1, 33, 37)
    rows = np.arange(5, 37)
    parts = cut_step(lengths, rows, cut)
    assert sorted(np.concatenate(parts)) == rows.tolist()
    assert len(parts) % cut.replicas == 0
    assert all(len(part) * lengths[part].max() <= cut.max_tokens for part in parts)
    assert len(parts) // cut.replicas >= min(cut.least, len(rows) // cut.replicas)


def test_micro_batches_that_are_asked_for_are_made_whatever_the_budget():
    assert len(cut_step(np.full(12, 30), np.arange(12), StepCut(30, 2, 2, micro_batches=3))) == 6


def test_fewer_rows_than_replicas_leave_some_without_any():
    parts = cut_step(np.full(2, 9), np.arange(2), StepCut(64, 2, 3))
    assert [len(part) for part in parts] == [1, 1, 0]
