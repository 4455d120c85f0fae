"""Reads a `.pdparams` file without running any code it may hold."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np

from ernie_pp.errors import ModelError

# All that a file of plain parameters names. `numpy.ndarray`'s own reduce goes through `_reconstruct` and `dtype`.
_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}
_SAVED_BESIDE = "StructuredToParameterName@@"


class _PlainUnpickler(pickle.Unpickler):
    """Refuses every global but the ones that rebuild a numpy array."""

    def find_class(self, module_name: str, global_name: str) -> object:
        if (module_name, global_name) in _ALLOWED:
            return super().find_class(module_name, global_name)
        raise pickle.UnpicklingError(f"it names {module_name}.{global_name}, which no parameter file needs")


def read_plain_pickle(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file that `paddle.save` wrote, by name; ModelError for anything else in it."""
    try:
        with path.open("rb") as file:
            content = _PlainUnpickler(file, encoding="latin1").load()
    except Exception as error:
        # A damaged pickle may raise almost anything; none of it is our fault to propagate.
        raise ModelError(str(path), f"not a readable parameter file: {error}", _ADVICE) from error
    if not isinstance(content, dict):
        raise ModelError(str(path), f"holds a {type(content).__name__}, a dictionary of arrays was expected", _ADVICE)
    return {name: _array(path, name, value) for name, value in content.items() if name != _SAVED_BESIDE}


_ADVICE = "Get the file again from where it came, or convert it to model.safetensors on a machine you trust."


def _array(path: Path, name: object, value: object) -> np.ndarray:
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], np.ndarray):
        value = value[1]  # paddle.save keeps (parameter name, array) for some layers
    if not isinstance(name, str) or not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu":
        what = f"entry {name!r} is a {type(value).__name__}, an array of numbers was expected"
        raise ModelError(str(path), what, _ADVICE)
    return value
