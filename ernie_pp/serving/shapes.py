"""Few shapes for a runtime: oneDNN keeps about 0.7 MiB of every shape it has met, for as long as the process lives.

Rows of a batch are 1, 2, 4, 8 … and its length is one of eight an octave, so that a server that has met all of them
grows no more: 170 shapes up to 512 tokens instead of tens of thousands.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ernie_pp.data.batches import order_for_evaluation

_LEAST_STEP = 16


def width_of(length: int, *, limit: int) -> int:
    """The length to which rows of up to `length` tokens are padded: an eighth more at most from 128 on.

    `limit` is the most the model reads.
    """
    step = max(_LEAST_STEP, 1 << max(0, (length - 1).bit_length() - 4))
    return max(length, min(limit, -(-length // step) * step))


def split_into_shapes(lengths: np.ndarray, *, max_tokens: int) -> Iterator[np.ndarray]:
    """All rows in micro-batches of like lengths, each of a power of two rows, padding to `width_of` not counted."""
    for batch in order_for_evaluation(lengths, max_tokens=max_tokens):
        start = 0
        while start < len(batch):
            count = 1 << ((len(batch) - start).bit_length() - 1)
            yield batch[start : start + count]
            start += count


def pad_to(array: np.ndarray, width: int, value: int) -> np.ndarray:
    """[rows, length] ids, `value` behind them up to `width`."""
    return np.pad(array, ((0, 0), (0, width - array.shape[1])), constant_values=value)
