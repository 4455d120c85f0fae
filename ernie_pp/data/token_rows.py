"""All tokenized rows of a split in a few flat arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ernie_pp.data.row_targets import RowTargets
from ernie_pp.text import EncodedRows


@dataclass(frozen=True)
class TokenRows:
    """Tokens of row r are `ids[row_starts[r]:row_starts[r + 1]]`; `example_index[r]` is the example it is a window of.

    `targets` hold one entry a row: what the task has to learn of it.
    """

    ids: np.ndarray  # int32 [tokens]
    type_ids: np.ndarray  # int8 [tokens]
    row_starts: np.ndarray  # int64 [rows + 1]
    num_cut: np.ndarray  # int32 [rows], tokens a length limit removed
    targets: np.ndarray | RowTargets | None = None
    example_index: np.ndarray | None = None  # int64 [rows], ascending; None: row r is the whole of example r
    offsets: np.ndarray | None = None  # int32 [tokens, 2], places in the example's text; (-1, -1) of special tokens

    def __post_init__(self) -> None:
        starts = self.row_starts
        is_whole = starts.ndim == 1 and len(starts) > 0 and starts[0] == 0 and starts[-1] == len(self.ids)
        is_whole = is_whole and len(self.type_ids) == len(self.ids) and len(self.num_cut) == len(starts) - 1
        is_whole = is_whole and (self.targets is None or len(self.targets) == len(starts) - 1)
        is_whole = is_whole and (self.example_index is None or len(self.example_index) == len(starts) - 1)
        is_whole = is_whole and (self.offsets is None or self.offsets.shape == (len(self.ids), 2))
        if not is_whole or np.any(np.diff(starts) < 0):
            raise ValueError("the arrays of the token rows do not fit each other")

    def __len__(self) -> int:
        return len(self.row_starts) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each row: int64 [rows]."""
        return np.diff(self.row_starts)

    @classmethod
    def from_encoded(cls, rows: EncodedRows) -> TokenRows:
        """The tokenizer's rows, with their offsets where they have some."""
        return cls(
            ids=rows.ids.astype(np.int32, copy=False),
            type_ids=rows.type_ids.astype(np.int8),
            row_starts=rows.row_starts.astype(np.int64, copy=False),
            num_cut=rows.num_cut.astype(np.int32),
            example_index=None if rows.text_index is None else rows.text_index.astype(np.int64, copy=False),
            offsets=None if rows.offsets is None else rows.offsets.astype(np.int32, copy=False),
        )

    @classmethod
    def join(cls, parts: Sequence[TokenRows]) -> TokenRows:
        """The rows of several records, which have the same fields, one after the other; without targets."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            ids=np.concatenate([part.ids for part in parts]),
            type_ids=np.concatenate([part.type_ids for part in parts]),
            row_starts=_starts(np.concatenate([part.lengths for part in parts])),
            num_cut=np.concatenate([part.num_cut for part in parts]),
            offsets=_joined([part.offsets for part in parts]),
        )

    def with_targets(self, targets: np.ndarray | RowTargets | None) -> TokenRows:
        """The same tokens with other targets."""
        return dataclasses.replace(self, targets=targets)

    def select(self, rows: np.ndarray) -> TokenRows:
        """The named rows, in the order they are named."""
        places = self.token_places(rows)
        return TokenRows(
            ids=self.ids[places],
            type_ids=self.type_ids[places],
            row_starts=_starts(self.lengths[rows]),
            num_cut=self.num_cut[rows],
            example_index=None if self.example_index is None else self.example_index[rows],
            offsets=None if self.offsets is None else self.offsets[places],
            targets=None if self.targets is None else self.targets[rows],
        )

    def token_places(self, rows: np.ndarray) -> np.ndarray:
        """Where the tokens of the named rows stand in `ids`, one row after the other: int64 [tokens]."""
        lengths = self.lengths[rows]
        starts = _starts(lengths)
        return np.arange(starts[-1]) + np.repeat(self.row_starts[:-1][rows] - starts[:-1], lengths)


def _joined(arrays: Sequence[np.ndarray | None]) -> np.ndarray | None:
    there = [array for array in arrays if array is not None]
    return np.concatenate(there) if len(there) == len(arrays) else None


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
