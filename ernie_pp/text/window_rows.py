"""Rows of tokens of texts that may be longer than the model: a long text becomes several windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ernie_pp.text.encoding import EncodedRows
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.text.truncation import NUM_SPECIAL
from ernie_pp.text.windows import cut_windows

_NO_LIMIT = 1 << 40
Span = tuple[int, int]


def encode_windows(
    texts: Sequence[str],
    tokenizer: Tokenizer,
    *,
    max_length: int,
    overlap: int,
    keep: Sequence[Sequence[Span]] | None = None,
) -> EncodedRows:
    """Every token of every text, in windows of at most `max_length` tokens, [CLS] and [SEP] around each.

    `text_index` says whose window a row is. `keep` are character ranges of each text that should stand whole in some
    window: the true entities, in training.
    """
    whole = tokenizer.encode_rows(texts, max_length=_NO_LIMIT, truncate="error", offsets=True)
    size = max_length - NUM_SPECIAL
    parts = []  # first and last token among those of all texts, and whose
    for index, text in enumerate(texts):
        begin, end = int(whole.row_starts[index]) + 1, int(whole.row_starts[index + 1]) - 1
        windows = np.array([[0, end - begin]])
        if end - begin > size:
            assert whole.offsets is not None
            # Dense and of the type of Python's numbers: each look-up of a place would copy them otherwise.
            starts, ends = np.ascontiguousarray(whole.offsets[begin:end].T, dtype=np.int64)
            kept = [tokens_of_span(starts, ends, span) for span in keep[index]] if keep is not None else []
            windows = cut_windows(text, starts, size=size, overlap=overlap, keep=kept)
        parts.append(np.column_stack([windows + begin, np.full(len(windows), index)]))
    table = np.concatenate(parts) if parts else np.zeros((0, 3), np.int64)
    return _rows_of(whole, table, tokenizer)


def tokens_of_span(starts: np.ndarray, ends: np.ndarray, span: Span) -> Span:
    """The tokens [first, last exclusive) that a range of characters touches, of tokens at these places."""
    first = int(np.searchsorted(ends, span[0], side="right"))
    last = int(np.searchsorted(starts, span[1], side="left"))
    return first, max(first, last)


def _rows_of(whole: EncodedRows, table: np.ndarray, tokenizer: Tokenizer) -> EncodedRows:
    """Rows of the token ranges [first, last exclusive, text] among `whole`, with [CLS] and [SEP] of their own."""
    sizes = table[:, 1] - table[:, 0] + NUM_SPECIAL
    row_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    within = np.arange(row_starts[-1]) - np.repeat(row_starts[:-1], sizes)
    # [CLS] stands before a window's first token, [SEP] behind its last: their places hold other tokens of the text.
    places = np.repeat(table[:, 0] - 1, sizes) + within
    assert whole.offsets is not None
    ids, offsets = whole.ids[places], whole.offsets[places]
    for index, token in ((row_starts[:-1], tokenizer.cls_id), (row_starts[1:] - 1, tokenizer.sep_id)):
        ids[index], offsets[index] = token, -1
    return EncodedRows(
        ids=ids,
        type_ids=np.zeros(len(ids), np.int32),
        offsets=offsets,
        row_starts=row_starts,
        num_cut=np.zeros(len(table), np.int64),
        text_index=table[:, 2],
    )
