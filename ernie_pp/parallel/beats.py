"""Signs of progress that a rank leaves for whoever watches over it."""

from __future__ import annotations

import contextlib
import enum
import os
import statistics
import struct
import time
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path

# Phase, step, time of the last beat, usual seconds of a step.
_LAYOUT = struct.Struct("<qqdd")
_STEPS_REMEMBERED = 20


class Phase(enum.IntEnum):
    """What a rank is at. Only in TRAIN and SAVE must there be progress within a limit."""

    START = 0
    TRAIN = 1
    SAVE = 2
    FINISH = 3


@dataclass(frozen=True)
class Beat:
    """One sign: `step` is the last that has ended, `time` the machine's monotonic clock, `usual_step_s` a median."""

    phase: Phase
    step: int
    time: float
    usual_step_s: float = 0.0


class Beats:
    """A rank's own. With a path, the last beat also stands there for the launcher to read."""

    def __init__(self, path: Path | None = None) -> None:
        self._file = None if path is None else os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        self._step_seconds: deque[float] = deque(maxlen=_STEPS_REMEMBERED)
        self._step_began = time.monotonic()
        self.last = Beat(Phase.START, 0, self._step_began)
        self._write()

    @property
    def phase(self) -> Phase:
        """What the rank is at."""
        return self.last.phase

    @property
    def step(self) -> int:
        """The last step that has ended."""
        return self.last.step

    def begin(self, phase: Phase) -> None:
        """The rank goes over to another phase."""
        self._step_began = time.monotonic()
        self._leave(replace(self.last, phase=phase, time=self._step_began))

    def end_step(self, step: int) -> None:
        """One more step has ended."""
        now = time.monotonic()
        self._step_seconds.append(now - self._step_began)
        self._step_began = now
        self._leave(replace(self.last, step=step, time=now, usual_step_s=statistics.median(self._step_seconds)))

    def beat(self) -> None:
        """Some work was done: a micro-batch, forward or backward."""
        self._leave(replace(self.last, time=time.monotonic()))

    def _leave(self, beat: Beat) -> None:
        self.last = beat
        self._write()

    def _write(self) -> None:
        if self._file is None:
            return
        beat = self.last
        # A disk that refuses even this ends no training: the launcher then sees less progress than there is.
        with contextlib.suppress(OSError):
            os.pwrite(self._file, _LAYOUT.pack(beat.phase, beat.step, beat.time, beat.usual_step_s), 0)


def beat_path(folder: Path, rank: int) -> Path:
    """Where a rank leaves its beats. It is there as soon as the rank has joined the others."""
    return folder / f"rank-{rank}.beat"


def read_beat(folder: Path, rank: int) -> Beat | None:
    """The last beat of a rank; None where it has left none yet."""
    with contextlib.suppress(OSError, ValueError, struct.error):
        phase, step, moment, usual = _LAYOUT.unpack(beat_path(folder, rank).read_bytes())
        return Beat(Phase(phase), step, moment, usual)
    return None
