"""Windows of long texts: what holds for every text, and where they are cut."""

import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.text.windows import cut_windows, whole_in_none


def _cut(text, **words):
    places = np.array([place for place, one in enumerate(text) if not one.isspace()])
    return cut_windows(text, places, **words)


@settings(max_examples=300, deadline=None)
@given(
    text=st.text(alphabet="甲乙丙丁，。；\n ”a", max_size=200),
    size=st.integers(1, 40),
    overlap=st.integers(0, 50),
    spans=st.lists(st.tuples(st.integers(0, 199), st.integers(1, 40)), max_size=6),
)
def test_windows_cover_a_text_and_keep_what_fits(text, size, overlap, spans):
    count = sum(not one.isspace() for one in text)
    keep = [(start, min(start + length, count)) for start, length in spans if start < count]
    keep = [span for span in keep if span[1] - span[0] <= size]
    windows = _cut(text, size=size, overlap=overlap, keep=keep)
    assert windows[0, 0] == 0 and windows[-1, 1] == count
    assert (windows[:, 1] - windows[:, 0] <= size).all()
    assert (np.diff(windows, axis=0) > 0).all()
    assert (windows[1:, 0] <= windows[:-1, 1]).all()
    assert whole_in_none(windows, keep) == []


@pytest.mark.parametrize("better, worse", [("\n", "。"), ("。", "；"), ("；", "，"), ("，", "甲")])
def test_a_window_ends_at_the_best_border_of_its_last_third(better, worse):
    text = "甲" * 20 + better + "甲" * 3 + worse + "甲" * 30
    (first, *_) = _cut(text, size=30, overlap=4)
    assert text.replace("\n", "")[: first[1]] == ("甲" * 20 + better).replace("\n", "")


def test_a_closing_quote_stays_with_its_sentence():
    text = "甲" * 22 + "。”" + "乙" * 40
    (first, *_) = _cut(text, size=30, overlap=4)
    assert first[1] == 24


def test_no_window_ends_between_two_closers():
    text = "甲" * 18 + "，甲甲甲。”）" + "乙" * 40
    (first, *_) = _cut(text, size=24, overlap=4)
    assert first[1] == 19  # the bracket does not fit: the comma is better than a place before it
    (first, *_) = _cut(text, size=30, overlap=4)
    assert first[1] == 25


def test_a_line_that_begins_with_a_quote_is_a_border_all_the_same():
    text = "甲" * 22 + '。\n"' + "乙" * 40
    (first, *_) = _cut(text, size=30, overlap=4)
    assert first[1] == 23


def test_neighbours_share_about_the_overlap():
    windows = _cut("甲" * 1000, size=100, overlap=24)
    shared = windows[:-1, 1] - windows[1:, 0]
    assert (shared == 24).all()


def test_an_overlap_of_more_than_half_counts_as_half():
    assert np.array_equal(_cut("甲" * 300, size=20, overlap=20), _cut("甲" * 300, size=20, overlap=10))


def test_a_text_that_fits_is_one_window_and_an_empty_one_too():
    assert _cut("甲乙丙", size=3, overlap=1).tolist() == [[0, 3]]
    assert _cut("", size=3, overlap=1).tolist() == [[0, 0]]


def test_what_no_window_holds_is_named():
    windows = np.array([[0, 10], [8, 18]])
    assert whole_in_none(windows, [(0, 10), (7, 9), (9, 18), (5, 12)]) == [(5, 12)]


def test_neighbours_share_at_least_half_of_the_overlap_in_any_text():
    rng = random.Random(3)
    text = "".join(rng.choice("甲乙丙丁戊己庚，。；\n”") for _ in range(20_000))
    windows = _cut(text, size=100, overlap=24)
    shared = windows[:-1, 1] - windows[1:, 0]
    assert shared.min() >= 12 and shared.max() <= 24


@pytest.mark.parametrize("characters", ["甲乙丙丁，。", ")", "。", "”\n甲"])
def test_a_million_characters_take_seconds(characters):
    rng = random.Random(0)
    text = "".join(rng.choice(characters) for _ in range(1_000_000))
    start = time.process_time()
    assert len(_cut(text, size=254, overlap=64)) > 2000
    assert time.process_time() - start < 10
