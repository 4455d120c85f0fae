"""Which window judges a span, and which spans stay."""

import itertools
import random
import time

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.text.merging import judging_window, merge_spans, without_overlaps
from ernie_pp.text.windows import cut_windows, whole_in_none

BEGINS, ENDS = [0, 60, 120], [100, 160, 200]
WINDOWS = list(zip(BEGINS, ENDS, strict=True))


def test_the_window_with_most_text_around_a_span_judges_it():
    assert judging_window((10, 20), BEGINS, ENDS) == 0
    assert judging_window((70, 72), BEGINS, ENDS) == 0  # 28 to the first one's end, 10 to the second one's beginning
    assert judging_window((90, 95), BEGINS, ENDS) == 1
    assert judging_window((79, 81), BEGINS, ENDS) == 0  # as far from both: the first
    assert judging_window((150, 158), BEGINS, ENDS) == 2


def test_the_texts_own_ends_are_no_inner_edges():
    assert judging_window((0, 5), BEGINS, ENDS) == 0
    assert judging_window((195, 200), BEGINS, ENDS) == 2


def test_a_span_that_no_window_holds_is_judged_by_none():
    assert judging_window((50, 130), BEGINS, ENDS) == -1


def test_a_span_is_kept_where_its_judge_predicts_it():
    spans = [(70, 72), (70, 72), (90, 100), (90, 105)]
    # The second window is not the judge of the first span; the third one is cut off by its own window's end.
    assert merge_spans(spans, [0, 1, 0, 1], WINDOWS) == [0, 3]


def test_what_every_window_finds_is_kept_once():
    rng = random.Random(1)
    begins = list(range(0, 3000, 50))
    windows = [(begin, begin + 80) for begin in begins]
    gold = {(start, start + rng.randint(1, 30)) for start in rng.sample(range(3000), 200)}
    seen = [
        (span, number)
        for number, (begin, end) in enumerate(windows)
        for span in gold
        if begin <= span[0] and span[1] <= end
    ]
    kept = merge_spans([span for span, _ in seen], [number for _, number in seen], windows)
    found = [seen[index][0] for index in kept]
    assert sorted(found) == sorted(span for span in gold if any(b <= span[0] and span[1] <= e for b, e in windows))


def _windows(text, keep=(), *, size=100, overlap=24):
    places = np.arange(len(text))
    return [(int(a), int(b)) for a, b in cut_windows(text, places, size=size, overlap=overlap, keep=keep)]


def _merge(found):
    """What stays of {window: spans}."""
    windows = sorted(found)
    pairs = [(span, number) for number, window in enumerate(windows) for span in found[window]]
    kept = merge_spans([span for span, _ in pairs], [number for _, number in pairs], windows)
    return [pairs[index][0] for index in kept]


@settings(max_examples=150, deadline=None)
@given(
    text=st.text(alphabet="甲乙丙，。\n”", min_size=1, max_size=300),
    places=st.lists(st.tuples(st.integers(0, 299), st.integers(1, 25)), max_size=30),
    size=st.integers(4, 50),
    overlap=st.integers(0, 30),
    are_kept=st.booleans(),
)
def test_spans_that_some_window_holds_come_back_once_each(text, places, size, overlap, are_kept):
    gold = {(start, min(start + length, len(text))) for start, length in places if start < len(text)}
    windows = _windows(text, sorted(gold) if are_kept else (), size=size, overlap=overlap)
    found = {(a, b): [span for span in gold if a <= span[0] and span[1] <= b] for a, b in windows}
    lost = set(whole_in_none(np.array(windows), sorted(gold)))
    assert sorted(_merge(found)) == sorted(gold - lost)
    assert not are_kept or all(end - start > size for start, end in lost)


def _read(text, begin, end):
    """What a reader finds in a window: bracketed names, and of those that its edges cut the part it sees."""
    found, opened = [], begin
    for place in range(begin, end):
        if text[place] == "〔":
            opened = place + 1
        elif text[place] == "〕":
            found.append((opened, place))
    return [*found, (opened, end)] if text.count("〔", begin, end) and found[-1:] < [(opened, 0)] else found


def test_entities_of_a_long_text_are_those_of_its_clauses_one_by_one():
    rng = random.Random(7)
    clauses = []
    while sum(map(len, clauses)) < 30_000:
        names = ["〔" + "乙" * rng.randint(1, 12) + "〕" for _ in range(rng.randint(0, 3))]
        clauses.append("甲" * rng.randint(1, 20) + "".join(names) + rng.choice("，丁丁丁丁丁丁丁丁丁"))
    text, alone, offset = "".join(clauses), [], 0
    for clause in clauses:
        alone += _read(text, offset, offset + len(clause))
        offset += len(clause)
    found = {window: _read(text, *window) for window in _windows(text, size=254, overlap=64)}
    assert len({span for spans in found.values() for span in spans} - set(alone)) > 10  # cut by a window's edge
    assert sorted(_merge(found)) == alone


def test_touching_spans_stay_apart_and_one_across_a_border_is_whole():
    text = "甲" * 300
    (_, end), (begin, _), *_ = windows = _windows(text)
    across, touching = (end - 8, end + 4), [(begin + 2, begin + 5), (begin + 5, begin + 9)]
    cut_off = (end - 8, end)  # what the first window sees of it
    found = {window: [] for window in windows}
    found[windows[0]] = [*touching, cut_off]
    found[windows[1]] = [*touching, across]
    # The first window judges the touching ones. Its own part of the other has an inner edge at its end.
    assert sorted(_merge(found)) == [*touching, across]


def test_the_first_window_reaches_to_the_texts_beginning_and_the_last_to_its_end():
    assert merge_spans([(0, 3), (195, 203)], [0, 1], [(2, 120), (80, 200)]) == [0, 1]


def test_thousands_of_spans_in_thousands_of_windows_are_merged_at_once():
    windows = [(begin, begin + 200) for begin in range(0, 500_000, 100)]
    spans = [(place, place + 5) for place in range(0, 500_000, 10)]
    start = time.process_time()
    assert len(merge_spans(spans, [place // 100 for place, _ in spans], windows)) > 10_000
    assert time.process_time() - start < 5


def test_of_overlapping_spans_the_surest_stays_then_the_longest_then_the_first():
    assert without_overlaps([(0, 5), (3, 8)], [0.5, 0.6]) == [1]
    assert without_overlaps([(0, 5), (3, 9)], [0.6, 0.6]) == [1]
    assert without_overlaps([(3, 8), (0, 5)], [0.6, 0.6]) == [1]
    assert without_overlaps([(0, 5), (3, 8), (7, 9)], [0.5, 0.6, 0.5]) == [1]
    assert without_overlaps([(4, 8), (0, 4), (8, 9)], [0.1, 0.9, 0.5]) == [1, 0, 2]  # touching ones stay, in order


def test_no_two_of_many_that_stay_overlap():
    rng = random.Random(2)
    spans = [(start, start + rng.randint(1, 20)) for start in (rng.randrange(5000) for _ in range(3000))]
    kept = [spans[index] for index in without_overlaps(spans, [rng.random() for _ in spans])]
    assert kept == sorted(kept) and all(one[1] <= other[0] for one, other in itertools.pairwise(kept))
