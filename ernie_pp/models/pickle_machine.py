"""A machine for pickles that calls nothing.

A pickle is a program for a small machine with a stack, and Python's own machine calls what the program names. This one
knows the instructions that plain parameters are written with, and a name in the file merely says which of our own few
forms follows. It holds about as many bytes as the file has.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from typing import Any, BinaryIO

from ernie_pp.models.pickled_arrays import ArrayForm, NumberForm, PickleRefused, allowed_name, call_form

# Twenty times what 512 layers need. An instruction of one byte may make an object of a hundred.
MAX_INSTRUCTIONS = 500_000
_MARK = object()
_TEXTS = {"BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINSTRING", "SHORT_BINSTRING"}
_GIVEN = {"BININT", "BININT1", "BININT2", "LONG1", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", *_TEXTS}
_MADE: dict[str, Callable[[], object]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict,
    "EMPTY_TUPLE": tuple,
    "MARK": lambda: _MARK,
}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_NOTHING_TO_DO = {"PROTO", "FRAME", "STOP"}


class PlainMachine:
    """Runs one file: the stack, and the values that come again."""

    def __init__(self, file: BinaryIO, file_bytes: int) -> None:
        self._file = _Whole(file, file_bytes)
        self._stack: list[Any] = []
        self._memory: dict[int, Any] = {}
        self._left_bytes = file_bytes  # for arrays: several may name the same bytes
        self._steps: dict[str, Callable[[Any], None]] = {
            "TUPLE": lambda _: self._stack.append(tuple(self._pop_to_mark())),
            "BINPUT": self._remember,
            "LONG_BINPUT": self._remember,
            "MEMOIZE": lambda _: self._remember(len(self._memory)),
            "BINGET": lambda index: self._stack.append(self._memory[index]),
            "LONG_BINGET": lambda index: self._stack.append(self._memory[index]),
            "GLOBAL": lambda names: self._name(*names.split(" ", 1)),
            "STACK_GLOBAL": lambda _: self._name(*self._pop(2)),
            "REDUCE": lambda _: self._stack.append(call_form(*self._pop(2))),
            "BUILD": lambda _: self._build(*self._pop(2)),
            "SETITEM": lambda _: self._set_items(self._pop(2)),
            "SETITEMS": lambda _: self._set_items(self._pop_to_mark()),
        }

    def run(self) -> object:
        """What the program leaves; PickleRefused or another ValueError or LookupError for what is no plain one."""
        for count, (code, given, _) in enumerate(pickletools.genops(self._file)):  # type: ignore[arg-type]
            if count >= MAX_INSTRUCTIONS:
                raise PickleRefused(f"it has more than {MAX_INSTRUCTIONS:,} instructions")
            self._do(code.name, given)
        return self._stack.pop()

    def _do(self, name: str, given: Any) -> None:
        if name in _GIVEN:
            self._stack.append(given)
        elif name in _MADE:
            self._stack.append(_MADE[name]())
        elif name in _TUPLES:
            self._stack.append(tuple(self._pop(_TUPLES[name])))
        elif name in self._steps:
            self._steps[name](given)
        elif name not in _NOTHING_TO_DO:
            raise PickleRefused(f"it holds the instruction {name}, which no parameter file needs")

    def _pop(self, count: int) -> list[Any]:
        """The last values, and no mark among them."""
        start = len(self._stack) - count
        values = self._stack[max(start, 0) :]
        if start < 0 or any(value is _MARK for value in values):
            raise PickleRefused("its instructions do not fit together")
        del self._stack[start:]
        return values

    def _pop_to_mark(self) -> list[Any]:
        count = next((n for n, value in enumerate(reversed(self._stack)) if value is _MARK), None)
        if count is None:
            raise PickleRefused("its instructions do not fit together")
        values = self._pop(count)
        self._stack.pop()
        return values

    def _remember(self, index: int) -> None:
        self._memory[index] = self._stack[-1]

    def _name(self, module: object, name: object) -> None:
        self._stack.append(allowed_name(module, name))

    def _build(self, form: object, state: object) -> None:
        if isinstance(form, ArrayForm):
            self._left_bytes -= form.take(state, max_bytes=self._left_bytes)
        elif isinstance(form, NumberForm):
            form.take(state)
        else:
            raise PickleRefused(f"it sets the state of a {type(form).__name__}")
        self._stack.append(form)

    def _set_items(self, values: list[Any]) -> None:
        target, names = self._stack[-1], values[::2]
        if not isinstance(target, dict) or not all(isinstance(name, str) for name in names):
            raise PickleRefused("it holds a dictionary whose keys are not all names")
        target.update(zip(names, values[1::2], strict=True))


class _Whole:
    """A file that is not asked for more than it has: a length in a pickle may be any number."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.size, self.readline, self.tell, self._read = size, file.readline, file.tell, file.read

    def read(self, count: int) -> bytes:
        """The next bytes."""
        if count > self.size - self.tell():
            raise PickleRefused("it is cut off")
        return self._read(count)
