"""The candidates of one window: against all pairs of tokens, one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks.docqa.settings import ALL_KINDS, PLAIN_KINDS, DecodeSettings
from ernie_pp.tasks.docqa.windows import best_spans, candidate_scores, find_candidates, near_candidates


def _settings(labels=PLAIN_KINDS, *, max_answer=8, num_best=3, threshold=0.5):
    return DecodeSettings(labels, max_answer, num_best, threshold)


def _all_spans(starts, ends, places, max_answer):
    """Every allowed pair with its score; a single token is allowed however long it is."""
    return {
        (first, last): starts[first] + ends[last]
        for first in range(len(starts))
        for last in range(first, len(starts))
        if first == last or places[last, 1] - places[first, 0] <= max_answer
    }


@st.composite
def tokens(draw):
    """(start logits, end logits, places): tokens of 1 to 4 characters, some with blanks between, some that share one.

    Few different logits, so that many spans are equally good.
    """
    lengths = draw(st.lists(st.integers(1, 4), max_size=14))
    steps = draw(st.lists(st.sampled_from([0, 0, 0, 1, 5, "shared"]), min_size=len(lengths), max_size=len(lengths)))
    places, end = [], 0
    for length, step in zip(lengths, steps, strict=True):
        if step == "shared" and places:
            places.append(places[-1])
            continue
        start = end + (step if step != "shared" else 0)
        end = start + length
        places.append((start, end))
    logits = st.lists(st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0]), min_size=len(lengths), max_size=len(lengths))
    return np.array(draw(logits)), np.array(draw(logits)), np.array(places, dtype=np.int64).reshape(-1, 2)


@settings(max_examples=300, deadline=None)
@given(given_tokens=tokens(), max_answer=st.integers(1, 20), num_best=st.integers(1, 6))
def test_every_listed_first_token_has_its_best_last_token_and_the_best_span_is_found(
    given_tokens, max_answer, num_best
):
    starts, ends, places = given_tokens
    firsts, lasts, scores = best_spans(starts, ends, places, _settings(max_answer=max_answer, num_best=num_best))
    spans = _all_spans(starts, ends, places, max_answer)
    of_first = {first: max(score for (a, _), score in spans.items() if a == first) for first in range(len(starts))}
    assert scores.tolist() == sorted(of_first.values(), reverse=True)[:num_best]
    assert len(set(firsts.tolist())) == len(firsts) == min(num_best, len(starts))
    for first, last, score in zip(firsts.tolist(), lasts.tolist(), scores.tolist(), strict=True):
        assert spans[first, last] == score == of_first[first]


def test_the_best_span_is_found_among_many_tokens_under_any_limit():
    random = np.random.default_rng(5)
    for count, max_answer in ((1, 1), (2, 1), (97, 3), (97, 96), (97, 97), (128, 1 << 20)):
        starts, ends = random.normal(size=(2, count))
        bounds = np.cumsum(random.integers(1, 4, size=count + 1))
        places = np.column_stack([bounds[:-1], bounds[1:]])
        spans = _all_spans(starts, ends, places, max_answer)
        (first,), (last,), (score,) = best_spans(starts, ends, places, _settings(max_answer=max_answer, num_best=1))
        assert (first, last) == max(spans, key=lambda span: spans[span]) and score == spans[first, last]


def test_the_limit_counts_characters_though_a_syllable_has_three_tokens():
    # 한국어 in a vocabulary of letters: three tokens share each place.
    places = np.repeat([[0, 1], [1, 2], [2, 3]], 3, axis=0)
    starts, ends = np.eye(9)[0], np.eye(9)[8]
    firsts, lasts, _ = best_spans(starts, ends, places, _settings(max_answer=3, num_best=1))
    assert (firsts[0], lasts[0]) == (0, 8)
    firsts, lasts, _ = best_spans(starts, ends, places, _settings(max_answer=2, num_best=1))
    assert lasts[0] - firsts[0] < 8


def test_a_token_longer_than_the_limit_is_a_candidate_alone():
    places = np.array([[0, 1], [1, 12], [12, 13]])
    firsts, lasts, _ = best_spans(np.array([0.0, 9, 0]), np.array([0.0, 9, 10]), places, _settings(max_answer=4))
    assert (firsts[0], lasts[0]) == (1, 1)


def _row(num_question, num_document, *, padding=0, labels=PLAIN_KINDS, seed=0, first=0):
    """(logits [1, length, outputs], rows) of one window: random numbers, large ones where no answer may be."""
    head = num_question + 2
    length = head + num_document + 1
    types = np.array([0] * head + [1] * (num_document + 1))
    offsets = np.full((length, 2), -1)
    offsets[head:-1, 0] = np.arange(num_document) + first
    offsets[head:-1, 1] = offsets[head:-1, 0] + 1
    rows = TokenRows(np.ones(length, np.int32), types, np.array([0, length]), np.zeros(1, np.int32), offsets=offsets)
    logits = np.random.default_rng(seed).normal(size=(1, length + padding, len(labels)))
    logits[0, 1:head, :2] = logits[0, length - 1 :, :2] = 50.0
    return logits, rows


@pytest.mark.parametrize("padding", [0, 7])
def test_neither_the_question_nor_special_tokens_nor_padding_are_an_answer(padding):
    for num_document in (1, 2, 9):
        logits, rows = _row(3, num_document, padding=padding)
        (found,) = find_candidates(logits, rows, _settings(num_best=50))
        assert len(found.starts) == num_document
        assert found.starts.min() == 0 and found.ends.max() <= num_document
        assert (found.scores < 40).all()


def test_padding_changes_nothing():
    logits, rows = _row(3, 9, padding=6)
    (padded,), (bare,) = (find_candidates(one, rows, _settings()) for one in (logits, logits[:, :-6]))
    assert candidate_scores(padded) == candidate_scores(bare)


def test_what_all_logits_of_a_window_have_in_common_changes_no_score():
    logits, rows = _row(3, 9, labels=ALL_KINDS)
    chosen = _settings(ALL_KINDS)
    (plain,), (moved,) = (find_candidates(one, rows, chosen) for one in (logits, logits + 17.25))
    assert [place for place, _ in candidate_scores(plain)] == [place for place, _ in candidate_scores(moved)]
    np.testing.assert_allclose([s for _, s in candidate_scores(plain)], [s for _, s in candidate_scores(moved)])


def test_a_score_is_what_the_borders_have_above_those_of_the_first_token():
    logits, rows = _row(1, 2, labels=ALL_KINDS)
    logits[0] = 0.0
    logits[0, 0] = [0.5, 0.25, 2.0, -1.0]
    logits[0, 3, 0], logits[0, 4, 1] = 3.0, 4.0
    (found,) = find_candidates(logits, rows, _settings(ALL_KINDS, num_best=1))
    assert candidate_scores(found) == [((0, 2), 6.25), ((-1, -1), 3.25), ((-2, -2), -2.75)]


def test_an_empty_document_has_no_span_but_may_have_yes_or_no():
    logits, rows = _row(3, 0, labels=ALL_KINDS)
    (found,) = find_candidates(logits, rows, _settings(ALL_KINDS))
    assert len(found.starts) == 0 and len(found.yes_no) == 2
    (found,) = find_candidates(logits[:, :, :2], rows, _settings())
    assert candidate_scores(found) == []


@settings(max_examples=150, deadline=None)
@given(given_tokens=tokens(), within=st.sampled_from([0.0, 0.5, 1.0, 4.0]), yes=st.sampled_from([-3.0, 0.0, 2.0]))
def test_all_candidates_near_the_best_one_are_told(given_tokens, within, yes):
    starts, ends, places = given_tokens
    count = len(starts)
    logits, rows = _row(2, count, labels=ALL_KINDS)
    logits[0, 4 : 4 + count, 0], logits[0, 4 : 4 + count, 1] = starts, ends
    logits[0, 0] = [0.0, 0.0, yes, -9.0]
    offsets = rows.offsets.copy()
    offsets[4:-1] = places
    rows = TokenRows(rows.ids, rows.type_ids, rows.row_starts, rows.num_cut, offsets=offsets)
    expected = {(-1, -1): 2 * yes, (-2, -2): -18.0}
    for (first, last), score in _all_spans(starts, ends, places, 8).items():
        place = (int(places[first, 0]), int(places[last, 1]))
        expected[place] = max(score, expected.get(place, score))
    least = max(expected.values()) - within
    (found,) = near_candidates(logits, rows, _settings(ALL_KINDS, num_best=1), within=within)
    assert found == {place: score for place, score in expected.items() if score >= least}
