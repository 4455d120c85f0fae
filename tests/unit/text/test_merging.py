"""Which window judges a span, and which spans stay."""

import itertools
import random

from ernie_pp.text.merging import judging_window, merge_spans, without_overlaps

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
