"""Rows that hold a question and a window of a document each: no question is cut, and every token of a document is read.

All questions to one document share its tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ernie_pp.text.encoding import EncodedRows, Encoding
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.text.truncation import NUM_SPECIAL_OF_PAIR, places_within
from ernie_pp.text.window_rows import Span, tokens_of_span
from ernie_pp.text.windows import cut_at_borders, rank_borders

_NO_LIMIT = 1 << 40


class TokenizedDocument:
    """The tokens of one document: `ids` and their places `starts` to `ends`, all int64 [tokens]."""

    def __init__(self, text: str, ids: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> None:
        self.text, self.ids, self.starts, self.ends = text, ids, starts, ends
        self._windows: dict[tuple[int, int], np.ndarray] = {}

    def windows(self, *, size: int, overlap: int, keep: Sequence[Span] = ()) -> np.ndarray:
        """int64 [windows, 2] of tokens, as `cut_windows`; `keep` are ranges of characters."""
        if keep:
            kept = [tokens_of_span(self.starts, self.ends, span) for span in keep]
            return cut_at_borders(self._ranks, size=size, overlap=overlap, keep=kept)
        # Questions are about as long as each other: most sizes come again.
        if (size, overlap) not in self._windows:
            self._windows[size, overlap] = cut_at_borders(self._ranks, size=size, overlap=overlap)
        return self._windows[size, overlap]

    def characters_of(self, windows: np.ndarray) -> np.ndarray:
        """int64 [windows, 2]: the characters that windows of tokens hold."""
        if not len(self.ids):
            return np.zeros_like(windows)
        return np.column_stack([self.starts[windows[:, 0]], self.ends[windows[:, 1] - 1]])

    @cached_property
    def _ranks(self) -> np.ndarray:
        return rank_borders(self.text, self.starts)


def tokenize_documents(texts: Sequence[str], tokenizer: Tokenizer) -> dict[str, TokenizedDocument]:
    """The tokens of every different text, by text."""
    different = list(dict.fromkeys(texts))
    rows = tokenizer.encode_rows(different, max_length=_NO_LIMIT, truncate="error", offsets=True)
    assert rows.offsets is not None
    documents = {}
    for index, text in enumerate(different):
        begin, end = int(rows.row_starts[index]) + 1, int(rows.row_starts[index + 1]) - 1
        starts, ends = np.ascontiguousarray(rows.offsets[begin:end].T, dtype=np.int64)
        documents[text] = TokenizedDocument(text, rows.ids[begin:end].astype(np.int64), starts, ends)
    return documents


@dataclass(frozen=True)
class QuestionWindows:
    """A question's tokens, and which windows of its document are read with it: int64 [windows, 2] of tokens."""

    question: Encoding  # [CLS] and [SEP] around it
    document: TokenizedDocument
    windows: np.ndarray

    @property
    def tokens_per_row(self) -> int:
        """Of the longest row."""
        longest = int((self.windows[:, 1] - self.windows[:, 0]).max(initial=0))
        return self._num_question + longest + NUM_SPECIAL_OF_PAIR

    @property
    def _num_question(self) -> int:
        return len(self.question.ids) - 2

    def rows(self, index: int, tokenizer: Tokenizer) -> EncodedRows:
        """[CLS] question [SEP] with type 0, then the window and [SEP] with type 1; `index` is that of the question.

        Places of type 1 are those in the document, of type 0 those in the question.
        """
        sizes = self.windows[:, 1] - self.windows[:, 0]
        head = self._num_question + 2  # [CLS] question [SEP]
        row_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes + head + 1)])
        ids = np.full(row_starts[-1], tokenizer.sep_id, np.int32)
        type_ids, offsets = np.ones(len(ids), np.int32), np.full((len(ids), 2), -1, np.int32)
        heads = (row_starts[:-1, None] + np.arange(head)).ravel()
        ids[heads], type_ids[heads] = np.tile(self.question.ids, len(sizes)), 0
        offsets[heads] = np.tile(self.question.offsets, (len(sizes), 1))
        within = places_within(sizes)
        places = np.repeat(row_starts[:-1] + head, sizes) + within
        tokens = np.repeat(self.windows[:, 0], sizes) + within
        ids[places] = self.document.ids[tokens]
        offsets[places, 0], offsets[places, 1] = self.document.starts[tokens], self.document.ends[tokens]
        count = len(sizes)
        return EncodedRows(ids, type_ids, offsets, row_starts, np.zeros(count, np.int64), np.full(count, index))

    def select(self, kept: np.ndarray) -> QuestionWindows:
        """The named windows, in order."""
        return QuestionWindows(self.question, self.document, self.windows[kept])

    def parts(self, max_tokens: int) -> Iterator[QuestionWindows]:
        """Runs of windows of which all rows together have at most about `max_tokens`."""
        size = max(1, max_tokens // self.tokens_per_row)
        for start in range(0, len(self.windows), size):
            yield QuestionWindows(self.question, self.document, self.windows[start : start + size])


def room_for_questions(max_length: int) -> int:
    """Most tokens of a question: so many that a quarter of a row, one token at least, is left to the document."""
    room = max_length - NUM_SPECIAL_OF_PAIR
    return max(room - max(room // 4, 1), 0)


def room_for_document(question: Encoding, max_length: int) -> int:
    """Tokens of a window beside a question."""
    return max_length - (len(question.ids) - 2) - NUM_SPECIAL_OF_PAIR
