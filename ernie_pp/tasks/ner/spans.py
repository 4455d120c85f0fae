"""What the model's output says of a row of tokens: its spans, with their types and probabilities. numpy only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Of global_pointer: less sure spans are not kept, and of one row and type no more than so many.
LEAST_PROBABILITY, MOST_SPANS = 0.01, 256
# No tuned threshold is lower: what is kept must not decide in its place.
LEAST_THRESHOLD = 0.011


@dataclass(frozen=True)
class RowSpans:
    """Spans of one row: `first` and `last` token (inclusive, [CLS] counted as 0), `kind` the number of the type."""

    first: np.ndarray  # int32 [spans]
    last: np.ndarray  # int32 [spans]
    kind: np.ndarray  # int32 [spans]
    score: np.ndarray  # float32 [spans], probabilities

    def __len__(self) -> int:
        return len(self.first)

    def select(self, chosen: np.ndarray) -> RowSpans:
        """The named spans, or those that a mask marks."""
        return RowSpans(self.first[chosen], self.last[chosen], self.kind[chosen], self.score[chosen])

    def places(self) -> list[tuple[int, int, int]]:
        """(first, last, kind) of each span, in order."""
        return sorted(zip(self.first.tolist(), self.last.tolist(), self.kind.tolist(), strict=True))


def row_spans(found: list[tuple[int, int, int, float]]) -> RowSpans:
    """The record of (first, last, kind, score) entries."""
    columns = list(zip(*found, strict=True)) or [(), (), (), ()]
    first, last, kind = (np.array(column, np.int32) for column in columns[:3])
    return RowSpans(first, last, kind, np.array(columns[3], np.float32))


def pointer_spans(scores: np.ndarray, lengths: np.ndarray) -> list[RowSpans]:
    """Of global_pointer's scores [rows, types, length, length] the spans that any threshold could take.

    [CLS] and [SEP], the first and the last token of a row, are in none.
    """
    least = np.log(LEAST_PROBABILITY) - np.log1p(-LEAST_PROBABILITY)
    return [_candidates(row, int(length), least) for row, length in zip(scores, lengths, strict=True)]


def _candidates(scores: np.ndarray, length: int, least: float) -> RowSpans:
    kind, first, last = np.nonzero(scores[:, 1 : length - 1, 1 : length - 1] >= least)
    is_forward = first <= last
    kind, first, last = kind[is_forward], first[is_forward] + 1, last[is_forward] + 1
    logits = scores[kind, first, last].astype(np.float64)
    chosen = _surest(kind, logits)
    kind, first, last, logits = kind[chosen], first[chosen], last[chosen], logits[chosen]
    probabilities = 0.5 * (1.0 + np.tanh(0.5 * logits))  # the sigmoid, which never overflows so
    return RowSpans(
        first.astype(np.int32), last.astype(np.int32), kind.astype(np.int32), probabilities.astype(np.float32)
    )


def _surest(kind: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """Indexes of the MOST_SPANS highest of each type, in their order."""
    order = np.lexsort((-logits, kind))
    ordered = kind[order]
    starts = np.searchsorted(ordered, ordered)  # where the type of each begins
    return np.sort(order[np.arange(len(order)) - starts < MOST_SPANS])
