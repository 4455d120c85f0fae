"""Which rank failed first, and what the user is told of it: plain values."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ernie_pp.errors import PeerLost
from ernie_pp.machine.signals import STOPPING
from ernie_pp.parallel.beats import Beat, Phase
from ernie_pp.parallel.rank_record import RankRecord

# A rank that misses another which has left says so by itself, unless it hangs.
EARLY_S = 10.0
_MEMORY = " (often: there was not enough memory)"


@dataclass(frozen=True)
class RankEnd:
    """How one rank ended: its exit code (negative: the signal that killed it), when, and its record if it left one."""

    rank: int
    code: int
    time: float
    record: RankRecord | None = None

    @property
    def is_cause(self) -> bool:
        """Whether it can be the cause of others' ends."""
        return self.order[0] == 0

    @property
    def order(self) -> tuple[int, float]:
        """Causes first, by time; then what may be a consequence, ranks that left too early, ranks that lost others."""
        if self.record is not None:
            return (3 if self.record.is_secondary else 0, self.record.time)
        if self.code == 0:
            return (2, self.time)
        # Paddle's C++ side aborts when it loses a peer.
        if self.code == -signal.SIGABRT or self.code > 0:
            return (3 if self.code == PeerLost.exit_code else 1, self.time)
        return (0, self.time)

    @property
    def exit_code(self) -> int:
        """The run's exit code where this end is its cause; never 0."""
        if self.code < 0:
            return 128 - self.code
        return 1 if self.code in (0, PeerLost.exit_code) else self.code


@dataclass(frozen=True)
class Verdict:
    """The rank that failed first, what happened to it in one phrase, and the messages to show, the first one first."""

    first: RankEnd
    phrase: str
    messages: tuple[str, ...]


def judge(ends: Sequence[RankEnd]) -> Verdict:
    """The verdict on ranks that have ended (not by us) while others had not, or with an exit code other than 0."""
    first, *others = sorted(ends, key=lambda end: end.order)
    causes = [end for end in others if end.is_cause]
    # Ranks that find the same thing wrong at the same step say the same.
    messages = {end.record.text: None for end in (first, *causes) if end.record is not None and end.record.text}
    return Verdict(first, _phrase(first), tuple(messages))


def stopped_all(ends: Sequence[RankEnd]) -> int:
    """The stop signal by which all of these ranks have left, told by one or given to each; 0: there is none."""
    codes = {end.code for end in ends if end.record is None}
    number = codes.pop() - 128 if len(codes) == 1 and all(end.record is None for end in ends) else 0
    return number if number in STOPPING else 0


def left_too_early(ended: Mapping[int, float], beats: Mapping[int, Beat | None], *, now: float) -> bool:
    """Whether ranks that ended well left others behind that needed them.

    `ended`: when the former ended; `beats`: the last ones of those that live. Past its training a rank needs nobody,
    or finds out by itself.
    """
    is_needed = any(beat is None or beat.phase != Phase.FINISH for beat in beats.values())
    return is_needed and any(now - time > EARLY_S for time in ended.values())


def lost_a_port(ends: Sequence[RankEnd]) -> bool:
    """Whether ranks failed because somebody else has a port of the run. Paddle's store aborts its process then."""
    return any(end.code == -signal.SIGABRT or (end.record is not None and end.record.is_port_taken) for end in ends)


def is_own_failure(end: RankEnd, signals: Sequence[int]) -> bool:
    """Whether a rank that ended just before a run was stopped had failed; a scheduler may signal the ranks as well."""
    was_signalled = any(end.code in (-number, 128 + number) for number in signals)
    return end.code != 0 and end.is_cause and not was_signalled


def find_failed_stop(ends: Sequence[RankEnd], *, signals: Sequence[int], late: Sequence[int]) -> RankEnd | None:
    """Of ranks that were told to stop: one that failed by itself, so that nothing was saved.

    That is one that somebody killed (not we: those are `late`), or else the first to end: others may have missed it.
    """
    killed = (end for end in ends if end.rank not in late and end.record is None)
    for end in killed:
        if is_own_failure(end, [*signals, signal.SIGTERM]):  # SIGTERM is what we told them by
            return end
    first = min(ends, key=lambda end: end.record.time if end.record is not None else end.time, default=None)
    if first is None or first.record is None or first.record.is_secondary:
        return None
    return first


def _phrase(end: RankEnd) -> str:
    if end.record is not None:
        if end.record.is_secondary:
            return "lost another rank, and none says why"
        return f"failed first (exit code {end.code if end.code > 0 else end.record.code})"
    if end.code < 0:
        return f"was killed by {_signal_name(-end.code)}{_MEMORY if end.code == -signal.SIGKILL else ''}"
    if end.code == 0:
        return "ended (exit code 0) while the other ranks still needed it"
    if end.code > 128:
        return f"was stopped by {_signal_name(end.code - 128)}"
    return f"ended with exit code {end.code} and said nothing"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
