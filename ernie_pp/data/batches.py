"""From tokenised rows to the micro-batches of a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class MicroBatch:
    """Rows computed together, padded to the longest of them only."""

    input_ids: np.ndarray  # int64 [rows, length]
    token_type_ids: np.ndarray  # int64 [rows, length]
    targets: np.ndarray | None  # the task's own: int64 [rows] or float32 [rows, labels]; None: not known
    row_indexes: np.ndarray  # int64 [rows], places in the token rows they were taken from
