"""Stop signals of a run that trains: noted when they come, acted on where all ranks stand at the same place."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

import numpy as np

from ernie_pp.machine.signals import STOPPING, act_on
from ernie_pp.parallel.control import Control


class Stopped(Exception):
    """All ranks leave their work here, because of a signal that one of them was given."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by signal {number}")
        self.number = number


class Stops:
    """The stop signal of this process, and the ranks' agreement on it."""

    def __init__(self, control: Control, *, has_launcher: bool = False) -> None:
        """`has_launcher`: one has started this process, and kills it where it must end at once."""
        self.control, self.has_launcher = control, has_launcher
        self.number = 0  # of the first signal that came

    def signal(self) -> int:
        """The number of the signal so far; 0: none."""
        return self.number

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Note a stop signal while the block runs; a second one does what it did before. Ignored ones stay ignored.

        Under a launcher a second one changes nothing: it may signal again what a scheduler has signalled already.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handlers = {number: signal.getsignal(number) for number in STOPPING}
        noted = [number for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)]

        def note(number: int, _: FrameType | None) -> None:
            if self.number and not self.has_launcher:
                act_on(number, handlers[signal.Signals(number)])
            self.number = self.number or number

        for number in noted:
            signal.signal(number, note)
        try:
            yield
        finally:
            for number in noted:
                signal.signal(number, handlers[number])

    def check(self) -> None:
        """Raise Stopped on every rank where one was given a signal; every rank calls it at the same place."""
        own = np.zeros(self.control.num_ranks)
        own[self.control.rank] = self.number
        number = int(self.control.sum(own).max())
        if number:
            raise Stopped(number)

    def act(self, number: int) -> NoReturn:
        """Do what the signal does to a process that does not note it."""
        act_on(number, signal.getsignal(number))
