"""Signs of progress that a rank leaves for whoever watches over it."""

from __future__ import annotations

import enum


class Phase(enum.IntEnum):
    """What a rank is at. Only in TRAIN and SAVE must there be progress within a limit."""

    START = 0
    TRAIN = 1
    SAVE = 2
    FINISH = 3


class Beats:
    """A rank's own; `step` is the last that has ended."""

    def __init__(self) -> None:
        self.phase, self.step = Phase.START, 0

    def begin(self, phase: Phase) -> None:
        """The rank goes over to another phase."""
        self.phase = phase

    def end_step(self, step: int) -> None:
        """One more step has ended."""
        self.step = step

    def beat(self) -> None:
        """Some work was done: a micro-batch, forward or backward."""
