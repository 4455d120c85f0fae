"""The tokens of one text (or pair), each with its place in the text as the user gave it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Encoding:
    """Tokens of one row, [CLS] and [SEP] included.

    `offsets[i]` is the start and end (exclusive), in code points of the raw text, of the characters token i came
    from: `text[start:end]`, or `text_pair[start:end]` where `type_ids[i]` is 1. Special tokens have (-1, -1).
    `num_cut` counts the tokens a length limit removed.
    """

    ids: np.ndarray  # int32 [length]
    type_ids: np.ndarray  # int32 [length]
    offsets: np.ndarray  # int32 [length, 2]
    num_cut: int


@dataclass(frozen=True)
class EncodedRows:
    """Tokens of many rows on end, each as in `Encoding`: row i has `row_starts[i]:row_starts[i + 1]`."""

    ids: np.ndarray  # int32 [tokens]
    type_ids: np.ndarray  # int32 [tokens]
    offsets: np.ndarray | None  # int32 [tokens, 2]; None where they were not asked for
    row_starts: np.ndarray  # int64 [rows + 1]
    num_cut: np.ndarray  # int64 [rows]
    text_index: np.ndarray | None = None  # int64 [rows], the text each row is a window of; None: row i is text i

    def __len__(self) -> int:
        return len(self.num_cut)

    @property
    def lengths(self) -> np.ndarray:
        """Number of tokens of each row, int64 [rows]."""
        return np.diff(self.row_starts)

    def encodings(self) -> list[Encoding]:
        """The rows one by one; their arrays are views of this record's."""
        if self.offsets is None:
            raise ValueError("these rows were encoded without offsets")
        bounds = self.row_starts.tolist()
        return [
            Encoding(self.ids[start:end], self.type_ids[start:end], self.offsets[start:end], num_cut)
            for start, end, num_cut in zip(bounds, bounds[1:], self.num_cut.tolist(), strict=False)
        ]


def join_rows(parts: list[EncodedRows]) -> EncodedRows:
    """Rows of several records in one."""
    if len(parts) == 1:
        return parts[0]
    lengths = np.concatenate([part.lengths for part in parts])
    offsets = [part.offsets for part in parts if part.offsets is not None]
    text_index = [part.text_index for part in parts if part.text_index is not None]
    return EncodedRows(
        ids=np.concatenate([part.ids for part in parts]),
        type_ids=np.concatenate([part.type_ids for part in parts]),
        offsets=np.concatenate(offsets) if len(offsets) == len(parts) else None,
        row_starts=np.concatenate([[0], np.cumsum(lengths)]),
        num_cut=np.concatenate([part.num_cut for part in parts]),
        text_index=np.concatenate(text_index) if len(text_index) == len(parts) else None,
    )
