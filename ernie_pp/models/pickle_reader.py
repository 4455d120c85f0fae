"""Reads a `.pdparams` file without running any code it may hold."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ernie_pp.errors import ModelError
from ernie_pp.models.pickle_machine import PlainMachine
from ernie_pp.models.pickled_arrays import ArrayForm, PickleRefused

_SAVED_BESIDE = "StructuredToParameterName@@"
_ADVICE = "Get the file again from where it came, or convert it to model.safetensors on a machine you trust."


def read_plain_pickle(path: Path, *, max_bytes: int) -> dict[str, np.ndarray]:
    """The arrays of a file that `paddle.save` wrote, by name; ModelError for anything else in it.

    A file of more than `max_bytes` is refused before it is read.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > max_bytes:
                raise PickleRefused(f"it has {size:,} bytes, and config.json implies {max_bytes:,} at most")
            content = PlainMachine(file, size).run()
    except (ValueError, LookupError, OverflowError, MemoryError, OSError) as error:
        raise ModelError(str(path), f"not a readable parameter file: {str(error)[:200]}", _ADVICE) from error
    if not isinstance(content, dict):
        raise ModelError(str(path), "holds no dictionary of arrays", _ADVICE)
    return {name: _array(path, name, value) for name, value in content.items() if name != _SAVED_BESIDE}


def _array(path: Path, name: str, value: object) -> np.ndarray:
    if isinstance(value, tuple) and len(value) == 2:
        value = value[1]  # paddle.save keeps (parameter name, array) for some layers
    if not isinstance(value, ArrayForm) or value.array is None:
        what = f"entry {name[:100]!r} is no array of numbers"
        raise ModelError(str(path), what, _ADVICE)
    return value.array
