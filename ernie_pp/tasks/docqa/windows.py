"""The candidates of one window: the best spans of its part of the document, scored against "nothing here"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks.docqa.settings import DecodeSettings

# A span of characters; yes is (-1, -1) and no is (-2, -2).
Place = tuple[int, int]


@dataclass(frozen=True)
class WindowAnswer:
    """The best spans of one window, in characters of the document; the best first.

    A score is the log of how much likelier a candidate is, in its window, than no answer: start and end logits
    (Devlin et al. 2019, "BERT", section 4.3) less those of [CLS]. What every logit of a window has in common falls out,
    so the scores of different windows can be compared. `yes_no` are those of yes and no, or empty.
    """

    starts: np.ndarray  # int64 [candidates]
    ends: np.ndarray  # int64 [candidates], exclusive
    scores: np.ndarray  # float64 [candidates], descending
    yes_no: tuple[float, ...] = ()


def find_candidates(logits: np.ndarray, rows: TokenRows, settings: DecodeSettings) -> list[WindowAnswer]:
    """The candidates of each row of logits [rows, length, outputs]."""
    return [_candidates(_Window.of_row(one, rows, row), settings) for row, one in enumerate(logits)]


def near_candidates(
    logits: np.ndarray, rows: TokenRows, settings: DecodeSettings, *, within: float
) -> list[dict[Place, float]]:
    """By row: every candidate, with its score, that comes as near to the row's best one as `within`.

    Spans with the same first token are told apart, and there may be more of them than `num_best`.
    """
    return [_near(_Window.of_row(one, rows, row), settings, within) for row, one in enumerate(logits)]


def best_spans(
    starts: np.ndarray, ends: np.ndarray, places: np.ndarray, settings: DecodeSettings
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(first tokens, last tokens, scores) of the `num_best` first tokens with the best last token for each.

    The best span of all is exact: every first token is joined with every last one that is at most `max_answer`
    characters on. `starts` and `ends` are logits of tokens at `places`, int [tokens, 2].
    """
    lasts = _best_in_ranges(ends, _furthest_lasts(places, settings.max_answer))
    scores: np.ndarray = starts + ends[lasts]
    order = np.argsort(-scores, kind="stable")[: settings.num_best]
    return order, lasts[order], scores[order]


def candidate_scores(answer: WindowAnswer) -> Sequence[tuple[Place, float]]:
    """((start, end), score) of every candidate; yes is (-1, -1) and no is (-2, -2)."""
    spans = zip(answer.starts.tolist(), answer.ends.tolist(), answer.scores.tolist(), strict=True)
    return [*(((start, end), score) for start, end, score in spans), *_yes_no_scores(answer.yes_no)]


@dataclass(frozen=True)
class _Window:
    """The document's part of a row: its logits and places, and the scores that are compared with it."""

    starts: np.ndarray  # float64 [tokens]
    ends: np.ndarray  # float64 [tokens]
    places: np.ndarray  # int64 [tokens, 2]
    none: float
    yes_no: tuple[float, ...]

    @classmethod
    def of_row(cls, logits: np.ndarray, rows: TokenRows, row: int) -> _Window:
        assert rows.offsets is not None, "documents are encoded with offsets"
        logits = logits.astype(np.float64)
        begin, end = int(rows.row_starts[row]), int(rows.row_starts[row + 1])
        # [SEP] of the document is the last token; all others of type 1 are the document's.
        first = int(np.argmax(rows.type_ids[begin:end]))
        own = logits[first : end - begin - 1]
        none = float(logits[0, 0] + logits[0, 1])
        yes_no = tuple(float(2 * one - none) for one in logits[0, 2:])
        return cls(own[:, 0], own[:, 1], rows.offsets[begin + first : end - 1].astype(np.int64), none, yes_no)


def _candidates(window: _Window, settings: DecodeSettings) -> WindowAnswer:
    firsts, lasts, scores = best_spans(window.starts, window.ends, window.places, settings)
    return WindowAnswer(window.places[firsts, 0], window.places[lasts, 1], scores - window.none, window.yes_no)


def _near(window: _Window, settings: DecodeSettings, within: float) -> dict[Place, float]:
    furthest = _furthest_lasts(window.places, settings.max_answer)
    best = window.starts + window.ends[_best_in_ranges(window.ends, furthest)] - window.none
    least = max([*best.tolist(), *window.yes_no], default=0.0) - within
    found = {}
    for first in np.flatnonzero(best >= least).tolist():
        scores = window.starts[first] + window.ends[first : furthest[first] + 1] - window.none
        for last in (first + np.flatnonzero(scores >= least)).tolist():
            place = int(window.places[first, 0]), int(window.places[last, 1])
            found[place] = max(float(scores[last - first]), found.get(place, least))
    return found | {place: score for place, score in _yes_no_scores(window.yes_no) if score >= least}


def _furthest_lasts(places: np.ndarray, max_answer: int) -> np.ndarray:
    """For each first token the furthest last one of an answer: int64 [tokens].

    The tokens are not counted: those of a Hangul syllable share one place. One token may be longer than an answer is
    allowed to be; it is still a token.
    """
    furthest = np.searchsorted(places[:, 1], places[:, 0] + max_answer, side="right") - 1
    return np.maximum(furthest, np.arange(len(places)))


def _best_in_ranges(values: np.ndarray, lasts: np.ndarray) -> np.ndarray:
    """For each index i that of the largest of `values[i : lasts[i] + 1]`, the first of equal ones.

    Any range is two overlapping ones whose length is a power of two, and those are known from half as long ones.
    """
    best, size = np.arange(len(values)), 1  # best[i] is the index of the largest of values[i : i + size]
    result, lengths = best.copy(), lasts - best + 1
    while size <= lengths.max(initial=0):
        own = np.flatnonzero((lengths >= size) & (lengths < 2 * size))
        result[own] = _larger(values, best[own], best[lasts[own] - size + 1])
        best, size = _larger(values, best[:-size], best[size:]), 2 * size
    return result


def _larger(values: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.where(values[second] > values[first], second, first)


def _yes_no_scores(scores: Sequence[float]) -> list[tuple[Place, float]]:
    return [((-1 - index, -1 - index), score) for index, score in enumerate(scores)]
