"""The candidates of one window: the best spans of its part of the document, scored against "nothing here"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks.docqa.settings import DecodeSettings

_NEVER = -1e30


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
    return [_of_row(one.astype(np.float64), rows, row, settings) for row, one in enumerate(logits)]


def _of_row(logits: np.ndarray, rows: TokenRows, row: int, settings: DecodeSettings) -> WindowAnswer:
    assert rows.offsets is not None, "documents are encoded with offsets"
    begin, end = int(rows.row_starts[row]), int(rows.row_starts[row + 1])
    # [SEP] of the document is the last token; all others of type 1 are the document's.
    inside = slice(begin + int(np.argmax(rows.type_ids[begin:end])), end - 1)
    places = rows.offsets[inside].astype(np.int64)
    own = slice(inside.start - begin, inside.stop - begin)
    none = logits[0, 0] + logits[0, 1]
    firsts, lasts, scores = best_spans(logits[own, 0], logits[own, 1], places, settings)
    yes_no = tuple(float(2 * one - none) for one in logits[0, 2:])
    return WindowAnswer(places[firsts, 0], places[lasts, 1], scores - none, yes_no)


def best_spans(
    starts: np.ndarray, ends: np.ndarray, places: np.ndarray, settings: DecodeSettings
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(first tokens, last tokens, scores) of the `num_best` first tokens with the best last token for each.

    The best span of all is exact: every first token is joined with every last one that is at most `max_answer`
    characters on. `starts` and `ends` are logits of tokens at `places`, int [tokens, 2].
    """
    count = len(starts)
    if count == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    width = min(settings.max_answer, count)
    last_of = np.minimum(np.arange(count)[:, None] + np.arange(width), count - 1)  # [tokens, width]
    length = places[last_of, 1] - places[:, :1]
    is_allowed = (length <= settings.max_answer) & (np.arange(count)[:, None] + np.arange(width) < count)
    # One token may be longer than an answer is allowed to be; it is still a token.
    is_allowed[:, 0] = True
    table = np.where(is_allowed, ends[last_of], _NEVER)
    best = table.argmax(axis=1)
    scores = starts + table[np.arange(count), best]
    order = np.argsort(-scores, kind="stable")[: settings.num_best]
    return order, order + best[order], scores[order]


def best_score(answer: WindowAnswer) -> float:
    """Of its best candidate; far below 0 where there is none."""
    return max([*answer.scores[:1].tolist(), *answer.yes_no], default=_NEVER)


def candidate_scores(answer: WindowAnswer) -> Sequence[tuple[tuple[int, int], float]]:
    """((start, end), score) of every candidate; yes is (-1, -1) and no is (-2, -2)."""
    spans = zip(answer.starts.tolist(), answer.ends.tolist(), answer.scores.tolist(), strict=True)
    others = (((-1 - index, -1 - index), score) for index, score in enumerate(answer.yes_no))
    return [*(((start, end), score) for start, end, score in spans), *others]
