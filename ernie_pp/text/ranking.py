"""Which windows of a long document are worth reading for a question: those with the clauses most like it.

BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond") over words, by bm25s.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np

from ernie_pp.text.segment import words

_CLAUSES = re.compile(r"[^。！？!?；;…\n\r]*(?:[。！？!?；;…\n\r]+|$)")
# Documents whose index is kept: questions to one document mostly come one after the other.
_MOST_INDEXES = 4


class ClauseIndex:
    """The clauses of one document, indexed by their words; `centers` are their middles, int64 [clauses]."""

    def __init__(self, text: str) -> None:
        # Loaded late: most runs rank nothing.
        import bm25s

        spans = [match.span() for match in _CLAUSES.finditer(text) if match.group().strip()]
        self.centers = np.array([(start + end) // 2 for start, end in spans], dtype=np.int64)
        self._index: Any = None
        clauses = [_words_of(text[start:end]) for start, end in spans]
        if any(clauses):
            self._index = bm25s.BM25(backend="numpy")
            self._index.index(clauses, show_progress=False)

    def scores(self, question: str) -> np.ndarray:
        """How like a question each clause is, float [clauses]; 0: no word in common."""
        asked = _words_of(question)
        if self._index is None or not asked:
            return np.zeros(len(self.centers))
        return self._index.get_scores(asked)


def pick_windows(question: str, text: str, windows: np.ndarray, *, limit: int) -> np.ndarray:
    """Indexes, ascending, of the `limit` windows with the best clauses; of equally good ones the first.

    `windows` are ranges of characters, int64 [windows, 2], in order.
    """
    if len(windows) <= limit:
        return np.arange(len(windows))
    index = clause_index(text)
    scores = index.scores(question)
    firsts, lasts = np.searchsorted(index.centers, windows[:, 0]), np.searchsorted(index.centers, windows[:, 1])
    best = np.array([scores[a:b].max(initial=0.0) for a, b in zip(firsts, lasts, strict=True)])
    return np.sort(np.argsort(-best, kind="stable")[:limit])


@lru_cache(maxsize=_MOST_INDEXES)
def clause_index(text: str) -> ClauseIndex:
    """The index of a document, made once."""
    return ClauseIndex(text)


def _words_of(text: str) -> list[str]:
    return [text[start:end].lower() for start, end in words(text)]
