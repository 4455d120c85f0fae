"""Which process is hit, with what, and when: drawn at random."""

from __future__ import annotations

import random
import signal
import time
from dataclasses import dataclass
from typing import Literal

from tools.soak_runs.attempt import Attempt

Moment = Literal["start", "training", "saving"]
_LONGEST_START_S = 6.0
_LONGEST_TRAINING_S = 2.0
_LONGEST_SAVING_S = 0.01


@dataclass(frozen=True)
class Kill:
    """`rank` None: the process that was started. `delay_s` counts from the start, the first step or a save."""

    rank: int | None
    number: signal.Signals
    moment: Moment
    delay_s: float
    skipped_saves: int

    def __str__(self) -> str:
        victim = "launcher" if self.rank is None else "rank"
        return f"{self.number.name} to the {victim} in {self.moment}"


def draw_kill(draw: random.Random, *, num_ranks: int) -> Kill:
    """A kill of any kind."""
    rank = draw.choice([None, *range(num_ranks)]) if num_ranks > 1 else None
    number = draw.choice([signal.SIGKILL, signal.SIGTERM]) if rank is None else signal.SIGKILL
    moment: Moment = draw.choice(["start", "training", "training", "saving", "saving"])
    longest = {"start": _LONGEST_START_S, "training": _LONGEST_TRAINING_S, "saving": _LONGEST_SAVING_S}[moment]
    return Kill(rank, number, moment, draw.uniform(0.0, longest), skipped_saves=draw.randrange(5))


def strike(attempt: Attempt, kill: Kill) -> bool:
    """Wait for the moment and send the signal; False where the run was over before."""
    if not _wait(attempt, kill):
        return False
    if kill.rank is not None and attempt.signal_rank(kill.rank, kill.number):
        return True
    if attempt.is_over():
        return False
    # A rank that is not there yet: its launcher is hit.
    attempt.process.send_signal(kill.number)
    return True


def _wait(attempt: Attempt, kill: Kill) -> bool:
    if kill.moment != "start" and not attempt.wait_until(lambda: bool(attempt.committed)):
        return False
    if kill.moment == "saving":
        num_saves = len(attempt.committed) + kill.skipped_saves
        is_time = lambda: len(attempt.committed) >= num_saves and attempt.is_saving()  # noqa: E731
        if not attempt.wait_until(is_time, pause_s=0.0002):
            return False
        time.sleep(kill.delay_s)
        return not attempt.is_over()
    at = time.monotonic() + kill.delay_s
    return attempt.wait_until(lambda: time.monotonic() >= at)


def expected_codes(kill: Kill) -> set[int]:
    """Exit codes of the started process after this kill; 0 where all was done when it came."""
    if kill.rank is not None:
        # Where the rank was not there yet the launcher was hit.
        return {0, 128 + kill.number, -kill.number}
    # Before Python has set up its answer a signal ends it at once.
    return {0, -kill.number} if kill.number == signal.SIGKILL else {0, 128 + kill.number, -kill.number}
