"""Predictions of overlapping windows become those of one text."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

Span = tuple[int, int]
_FAR = 1 << 60


def merge_spans(spans: Sequence[Span], window_of: Sequence[int], windows: Sequence[Span]) -> list[int]:
    """Indexes of the spans that are kept, ascending; `window_of[i]` is the window that predicts span i.

    The rule: a span is judged by the window in which it stands farthest from an inner edge (the text's own beginning
    and end are no inner edges), the first of several. It is kept where that window predicts it; what the others say of
    it does not count, for they see less of what is around it. `windows` are ranges of characters, in order; the first
    counts as beginning with the text, and the last as ending with it.
    """
    begins = [begin for begin, _ in windows]
    ends = [end for _, end in windows]
    return [
        index
        for index, (span, own) in enumerate(zip(spans, window_of, strict=True))
        if judging_window(span, begins, ends) == own
    ]


def judging_window(span: Span, begins: Sequence[int], ends: Sequence[int]) -> int:
    """Of the windows that hold a span whole, the one with the most text around it; -1 where none does.

    `begins` and `ends` of the windows ascend, and there is at least one.
    """
    start, end = span
    # Those that begin in time are the first ones, those that end late enough the last ones.
    first = min(bisect.bisect_left(ends, end), len(ends) - 1)
    last = max(bisect.bisect_right(begins, start) - 1, 0)
    best, widest = -1, -1
    for window in range(first, last + 1):
        before = _FAR if window == 0 else start - begins[window]
        behind = _FAR if window == len(ends) - 1 else ends[window] - end
        if min(before, behind) > widest:
            best, widest = window, min(before, behind)
    return best


def without_overlaps(spans: Sequence[Span], scores: Sequence[float]) -> list[int]:
    """Indexes of the spans that stay where none may overlap another, in the order of their places.

    Of overlapping ones the higher score stays, then the longer, then the earlier. Touching ones do not overlap.
    """
    order = sorted(range(len(spans)), key=lambda i: (-scores[i], spans[i][0] - spans[i][1], spans[i][0], i))
    begins: list[int] = []
    kept: list[int] = []  # in the order of `begins`
    for index in order:
        start, end = spans[index]
        place = bisect.bisect_left(begins, start)
        is_free_before = place == 0 or spans[kept[place - 1]][1] <= start
        is_free_behind = place == len(begins) or begins[place] >= end
        if is_free_before and is_free_behind:
            begins.insert(place, start)
            kept.insert(place, index)
    return kept
