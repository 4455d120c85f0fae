"""How an array of numbers is written in a pickle, read as plain values."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

_NUMBER = re.compile(r"[fiu][1248]")
_MOST_AXES = 8


class PickleRefused(ValueError):
    """The file holds what no parameter file needs."""


class NumberForm:
    """A kind of number: `numpy.dtype("f4")` and then its byte order."""

    def __init__(self, text: object = None, *_: object) -> None:
        if not isinstance(text, str) or not _NUMBER.fullmatch(text):
            raise PickleRefused(f"it holds an array of {_shown(text)}, numbers were expected")
        self.dtype = np.dtype(text)

    def take(self, state: object) -> None:
        """Byte order, from (version, order, no fields, no names, no inner shape, ...)."""
        if not isinstance(state, tuple) or len(state) < 5 or any(one is not None for one in state[2:5]):
            raise PickleRefused("it holds an array of records, numbers were expected")
        if state[1] not in ("<", ">", "|", "="):
            raise PickleRefused(f"it holds numbers of the byte order {_shown(state[1])}")
        self.dtype = self.dtype.newbyteorder(state[1])


class ArrayForm:
    """An array: made empty, then given shape, kind of number and bytes."""

    def __init__(self, *_: object) -> None:
        self.array: np.ndarray | None = None

    def take(self, state: object, *, max_bytes: int) -> int:
        """Become an array of (version, shape, kind, whether the first axis runs fastest, bytes); how many bytes."""
        if not isinstance(state, tuple) or len(state) != 5:
            raise PickleRefused("it holds an array in another form than numpy's")
        _, shape, number, is_fortran, content = state
        content = content.encode("latin-1") if isinstance(content, str) else content  # of Python 2
        if not isinstance(number, NumberForm) or not isinstance(content, bytes) or not _is_shape(shape):
            raise PickleRefused("it holds an array in another form than numpy's")
        if len(content) != math.prod(shape) * number.dtype.itemsize:
            raise PickleRefused(f"it holds an array of shape {list(shape)} in {len(content)} bytes")
        if len(content) > max_bytes:
            raise PickleRefused("its arrays are larger than the file")
        flat = np.frombuffer(content, number.dtype) if content else np.empty(0, number.dtype)
        self.array = flat.reshape(shape, order="F" if is_fortran is True else "C")
        return len(content)


def _encode(text: object = None, encoding: object = None) -> bytes:
    """Bytes as the second protocol writes them."""
    if not isinstance(text, str) or encoding != "latin1":
        raise PickleRefused("it encodes a text, which no parameter file needs")
    return text.encode("latin-1")


def _pair(values: object = ()) -> tuple[Any, ...]:
    if not isinstance(values, tuple):
        raise PickleRefused("it makes a tuple of something else")
    return values


# All that a file of plain parameters calls by name, and what we do for it.
_FORMS = {
    "numpy.core.multiarray._reconstruct": ArrayForm,
    "numpy._core.multiarray._reconstruct": ArrayForm,
    "numpy.dtype": NumberForm,
    "_codecs.encode": _encode,
    "builtins.tuple": _pair,
    "__builtin__.tuple": _pair,
}
_NAMED_ONLY = "numpy.ndarray"  # said to `_reconstruct`


class _Name(str):
    """The name of an allowed form."""


def allowed_name(module: object, name: object) -> object:
    """What stands for a name of the file; PickleRefused for any but the few of plain arrays."""
    full = _Name(f"{module}.{name}") if isinstance(module, str) and isinstance(name, str) else _Name("?")
    if full not in _FORMS and full != _NAMED_ONLY:
        raise PickleRefused(f"it names {full[:100]}, which no parameter file needs")
    return full


def call_form(function: object, words: object) -> object:
    """What calling an allowed name with these words stands for."""
    if not isinstance(function, _Name) or function not in _FORMS or not isinstance(words, tuple):
        raise PickleRefused("it calls something that is no name")
    return _FORMS[function](*words)


def _shown(value: object) -> str:
    # Of a text alone: a tuple of 30 instructions may name itself twice at every level, and fill the memory as a text.
    return repr(value[:40]) if isinstance(value, str) else f"a {type(value).__name__}"


def _is_shape(shape: object) -> bool:
    if not isinstance(shape, tuple) or len(shape) > _MOST_AXES:
        return False
    return all(type(count) is int and 0 <= count < 1 << 48 for count in shape)
