"""Long texts in windows that a model can read: they overlap, and begin and end where the text itself has a border."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Span = tuple[int, int]
# How good a place behind a character is to end a window: the higher the better; behind any other token it is 0.
_LINE = 4
_RANKS = {
    **dict.fromkeys("\n\r\u2028\u2029\x0b\x0c", _LINE),
    **dict.fromkeys("。！？!?…", 3),
    **dict.fromkeys("；;", 2),
    **dict.fromkeys("，,、：:", 1),
}
# Closing quotes and brackets belong to what they close.
_CLOSERS = frozenset("”’」』》）】〉)]\"'")


def cut_windows(text: str, starts: np.ndarray, *, size: int, overlap: int, keep: Sequence[Span] = ()) -> np.ndarray:
    """int64 [windows, 2]: ranges [first, last exclusive) of a text's tokens, which begin at `starts`.

    A text of at most `size` tokens is one window. Else each window ends at the best border among its last third (the
    latest of equally good ones): a line break, the end of a sentence, a semicolon, a comma or colon, or any token;
    closing quotes and brackets stay with what they close. The next begins about `overlap` tokens before that end: at
    the best border from there down to half of `overlap` before it (the earliest of equally good ones). An overlap of
    half the size or more counts as half the size, so that windows advance; the last one ends with the text.

    `keep` are token ranges that should stand whole in one window, the true entities of training: where a window ends
    inside one, the next begins with it at the latest; one longer than `size` is cut.
    """
    count = len(starts)
    if count <= size:
        return np.array([[0, count]], dtype=np.int64)
    return cut_at_borders(rank_borders(text, starts), size=size, overlap=overlap, keep=keep)


def cut_at_borders(ranks: np.ndarray, *, size: int, overlap: int, keep: Sequence[Span] = ()) -> np.ndarray:
    """As `cut_windows`, of a text whose borders were ranked before: one that is cut for several sizes is so once."""
    count = len(ranks) - 1
    if count <= size:
        return np.array([[0, count]], dtype=np.int64)
    overlap = min(overlap, size // 2)
    kept = sorted((first, last) for first, last in keep if last - first <= size)
    windows, begin, end, next_kept = [], 0, 0, 0
    while end < count:
        end = count if begin + size >= count else _best_end(ranks, begin, size=size, after=max(end, begin + overlap))
        while next_kept < len(kept) and kept[next_kept][0] <= begin:
            # One that this window was begun for.
            end = max(end, kept[next_kept][1] if kept[next_kept][0] == begin else 0)
            next_kept += 1
        windows.append((begin, end))
        begin = _early_enough(_best_begin(ranks, end, overlap=overlap, after=begin), end, kept, next_kept)
    return np.array(windows, dtype=np.int64)


def rank_borders(text: str, starts: np.ndarray) -> np.ndarray:
    """int8 [tokens + 1]: how good a border is before each token; characters between two tokens count too."""
    ranks = np.zeros(len(starts) + 1, dtype=np.int8)
    places = starts.tolist()
    rank = 0  # of the last mark, as long as nothing but closers stands behind it
    for index in range(1, len(places)):
        before, behind = text[places[index - 1] : places[index]], text[places[index]]
        own = max(_RANKS.get(one, 0) for one in before) if before else 0
        if own or before.strip() not in _CLOSERS:
            rank = own
        # Marks and closers stay with what they end, but for a line break: a line may begin with any of them.
        if rank == _LINE or (behind not in _CLOSERS and behind not in _RANKS):
            ranks[index], rank = rank, 0
    return ranks


def whole_in_none(windows: np.ndarray, spans: Sequence[Span]) -> list[Span]:
    """The spans of tokens that stand whole in no window."""
    firsts = windows[:, 0]
    lost = []
    for first, last in spans:
        # Of the windows that begin no later than the span, the last one ends latest.
        window = int(np.searchsorted(firsts, first, side="right")) - 1
        if window < 0 or windows[window, 1] < last:
            lost.append((first, last))
    return lost


def _best_end(ranks: np.ndarray, begin: int, *, size: int, after: int) -> int:
    """The end of a window; `after` is where it must not end yet, so that every window goes further."""
    first, last = max(begin + size - size // 3, after + 1), begin + size
    return last - int(ranks[first : last + 1][::-1].argmax()) if first < last else last


def _best_begin(ranks: np.ndarray, end: int, *, overlap: int, after: int) -> int:
    first, last = max(end - overlap, after + 1), max(end - overlap // 2, after + 1)
    return first + int(ranks[first : last + 1].argmax())


def _early_enough(begin: int, end: int, kept: Sequence[Span], next_kept: int) -> int:
    """`begin`, or the first token of a span that the window before cuts at `end`, where that is earlier."""
    for index in range(next_kept, len(kept)):
        first, last = kept[index]
        if first >= begin:
            break
        if last > end:
            return first
    return begin
