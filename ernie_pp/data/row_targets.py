"""Targets of which a row has as many as it has tokens, or entities: all in one flat array."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RowTargets:
    """Those of row r are `values[starts[r]:starts[r + 1]]`; `filler` pads a row to the longest of a micro-batch."""

    values: np.ndarray  # int64 [entries] or [entries, numbers of each]
    starts: np.ndarray  # int64 [rows + 1]
    filler: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, rows: np.ndarray) -> RowTargets:
        """The named rows, in the order they are named."""
        counts = np.diff(self.starts)[rows]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[:-1][rows] - starts[:-1], counts)
        return RowTargets(self.values[places], starts, self.filler)

    def padded(self) -> np.ndarray:
        """int64 [rows, most entries of a row, ...], `filler` behind the last entry."""
        counts = np.diff(self.starts)
        is_entry = np.arange(int(counts.max(initial=1))) < counts[:, None]  # [rows, most]
        table = np.full((*is_entry.shape, *self.values.shape[1:]), self.filler, dtype=np.int64)
        table[is_entry] = self.values
        return table
