"""Stop signals that are noted and acted on later, for a process that must first end others."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Any

from ernie_pp.machine.signals import STOPPING, act_on


class StopNotes:
    """The stop signals that have come so far."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.handlers: dict[int, Any] = {}

    @property
    def count(self) -> int:
        """How many have come."""
        return len(self.numbers)

    def act(self) -> None:
        """Do what the first of them was to do: the handler that was there before, or the exit with its code."""
        if not self.numbers:
            return
        act_on(self.numbers[0], self.handlers.get(self.numbers[0]))


@contextlib.contextmanager
def noted_stops() -> Iterator[StopNotes]:
    """Note stop signals while the block runs; those this process was told to ignore stay ignored."""
    notes = StopNotes()
    numbers = [number for number in STOPPING if signal.getsignal(number) != signal.SIG_IGN]

    def note(number: int, _frame: object) -> None:
        notes.numbers.append(number)

    notes.handlers = {number: signal.signal(number, note) for number in numbers}
    try:
        yield notes
    finally:
        for number, handler in notes.handlers.items():
            signal.signal(number, handler)
