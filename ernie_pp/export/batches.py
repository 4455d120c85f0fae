"""Rows for a model, as arrays and as a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from ernie_pp.errors import ModelError

# (input_ids, token_type_ids), each int64 [rows, length]
Batch = tuple[np.ndarray, np.ndarray]


def save_batches(path: Path, batches: Sequence[Batch]) -> None:
    """Write batches as one safetensors file."""
    arrays = {}
    for index, (ids, types) in enumerate(batches):
        arrays[f"ids.{index}"], arrays[f"types.{index}"] = np.ascontiguousarray(ids), np.ascontiguousarray(types)
    save_file(arrays, path)


def load_batches(path: Path) -> list[Batch]:
    """The inverse of `save_batches`."""
    try:
        arrays = load_file(path)
    except (OSError, SafetensorError, TypeError, AttributeError) as error:  # the last two: no type of numpy's
        raise ModelError(str(path), f"cannot be read: {error}", "Copy the folder again, whole.") from error
    return [(arrays[f"ids.{index}"], arrays[f"types.{index}"]) for index in range(len(arrays) // 2)]
