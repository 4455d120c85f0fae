"""Tuned thresholds against every possible cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ernie_pp.tasks.thresholds import best_threshold

CANDIDATES = st.lists(st.tuples(st.sampled_from([0.05, 0.2, 0.4, 0.5, 0.55, 0.9, 1.0]), st.booleans()), min_size=1)


def _f1(threshold, candidates, num_true):
    taken = [is_right for score, is_right in candidates if score >= threshold]
    return 2 * sum(taken) / (len(taken) + num_true)


@given(candidates=CANDIDATES, missed=st.integers(0, 3))
def test_no_other_threshold_has_a_higher_f1(candidates, missed):
    scores, is_right = (np.array(side) for side in zip(*candidates, strict=True))
    num_true = int(is_right.sum()) + missed
    best = best_threshold(scores, is_right, num_true=num_true)
    assert 0 < best <= 1
    highest = max(_f1(one, candidates, num_true) for one in scores) if num_true else 0
    assert num_true == 0 or _f1(best, candidates, num_true) == pytest.approx(highest)


def test_of_equally_good_thresholds_the_nearest_to_a_half_is_taken():
    scores = np.array([0.95, 0.9, 0.6, 0.2])
    # One of one and two of four have the same F1 of 2/3 for two true ones.
    assert best_threshold(scores, np.array([True, False, False, True]), num_true=2) == pytest.approx(0.1)
    assert best_threshold(scores, np.array([True, True, False, False]), num_true=2) == pytest.approx(0.75)


@pytest.mark.parametrize("scores, num_true", [([], 3), ([0.9], 0)])
def test_where_nothing_can_be_learned_it_is_a_half(scores, num_true):
    assert best_threshold(np.array(scores), np.zeros(len(scores), bool), num_true=num_true) == 0.5


@pytest.mark.parametrize("high", [np.float32(0.9), np.nextafter(np.float32(0.9), np.float32(1))])
def test_neighbouring_numbers_are_told_apart(high):
    scores = np.array([high, np.nextafter(high, np.float32(0))], np.float32)
    best = best_threshold(scores, np.array([True, False]), num_true=1)
    assert (scores >= np.array([best])).tolist() == [True, False]
