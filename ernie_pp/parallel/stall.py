"""Whether ranks have stopped making progress: plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ernie_pp.parallel.beats import Beat, Phase

EXIT_CODE = 124
LOOK_EVERY_S = 1.0
# Without a limit of the user's.
LEAST_LIMIT_S, USUAL_STEPS = 120.0, 20
# A whole model may have to go to a slow disk.
LEAST_SAVE_LIMIT_S = 600.0
# A watcher that looks later than this was itself suspended, and the ranks perhaps too: that time does not count.
_LONGEST_LOOK_S = 2.5


@dataclass(frozen=True)
class Stall:
    """No rank had a beat for `seconds`; `last` had the newest one, `least` the oldest."""

    seconds: float
    last: int
    least: int


@dataclass(frozen=True)
class Watch:
    """When a watcher looked last, the newest beat it has seen, and for how long it has seen no newer one."""

    looked: float
    newest: float = -math.inf
    quiet_s: float = 0.0

    def look(self, now: float, beats: Mapping[int, Beat | None]) -> Watch:
        """The same after one more look at the ranks that live."""
        newest = max((beat.time for beat in beats.values() if beat is not None), default=self.newest)
        passed = min(now - self.looked, _LONGEST_LOOK_S)
        if newest > self.newest:
            return Watch(now, newest, min(passed, max(now - newest, 0.0)))
        return Watch(now, self.newest, self.quiet_s + passed)


def stall_limit(beats: Sequence[Beat], wanted_s: float | None) -> float:
    """Seconds without any progress that are a stall; `wanted_s` is the user's own limit."""
    usual = max(beat.usual_step_s for beat in beats)
    limit = wanted_s if wanted_s is not None else max(LEAST_LIMIT_S, USUAL_STEPS * usual)
    return max(limit, LEAST_SAVE_LIMIT_S) if any(beat.phase == Phase.SAVE for beat in beats) else limit


def find_stall(beats: Mapping[int, Beat | None], watch: Watch, *, wanted_s: float | None) -> Stall | None:
    """The stall of the ranks that live, by their last beats at the time of the last look; None where there is none."""
    known = {rank: beat for rank, beat in beats.items() if beat is not None}
    if not known or len(known) < len(beats) or any(not _is_watched(beat) for beat in known.values()):
        return None
    last, least = (choose(known, key=lambda rank: known[rank].time) for choose in (max, min))
    limit = stall_limit(list(known.values()), wanted_s)
    return Stall(watch.quiet_s, last, least) if watch.quiet_s > limit else None


def _is_watched(beat: Beat) -> bool:
    return beat.phase in (Phase.TRAIN, Phase.SAVE)
