"""The parent of a run of many processes: starts the ranks, watches over them, and ends them all together.

parent --+-- rank 0      has the terminal, writes the run folder
         +-- rank 1 ...  ranks/rank-1.log
         +-- watchdog    ends the ranks' process groups if the parent is killed
"""

from __future__ import annotations

import logging
import signal
import time
from dataclasses import dataclass

from ernie_pp.errors import RanksFailed
from ernie_pp.parallel.beats import Beat
from ernie_pp.parallel.launcher.guard import guarded
from ernie_pp.parallel.launcher.rank_files import clear_folder, drop_signs
from ernie_pp.parallel.launcher.rank_processes import POLL_EVERY_S, Launch, RankProcesses
from ernie_pp.parallel.launcher.stop_notes import StopNotes, noted_stops
from ernie_pp.parallel.launcher.telling import tell_failure, tell_stall
from ernie_pp.parallel.launcher.verdict import (
    RankEnd,
    find_failed_stop,
    is_own_failure,
    left_too_early,
    lost_a_port,
    stopped_all,
)
from ernie_pp.parallel.ports import reserved_ports
from ernie_pp.parallel.stall import LOOK_EVERY_S, Stall, Watch, find_stall

LOG = logging.getLogger("ernie_pp")
# After the first end: the true cause may show a moment later than what it brought about.
SURFACE_S = 1.0
# After a failure nobody can save any more: a rank ends by itself as soon as it misses another.
FAILURE_GRACE_S = 3.0
_TRIES = 3
_LONGEST_REASON = 200


def launch(run: Launch) -> None:
    """Run all ranks to their end; RanksFailed where one fails, the signal's own exit where one stops this process.

    Nothing that was started is left in any case. Call it from the main thread.
    """
    with noted_stops() as stops:
        for tries_left in reversed(range(_TRIES)):
            failure = _run_once(run, stops)
            if failure is None:
                return
            if not tries_left:
                raise RanksFailed(f"{failure}: {_TRIES} times", messages=failure.messages, exit_code=1)
            why = " ".join(" ".join(failure.messages[:1]).split())[:_LONGEST_REASON]
            LOG.warning("%s: %s; starting once more on other ports", failure, why or "no word of it")


@dataclass(frozen=True)
class _Outcome:
    """What was seen of the ranks before those that still lived were told to end."""

    stall: Stall | None
    ends: list[RankEnd]
    stacks: list[int]  # the ranks that wrote theirs
    beats: dict[int, Beat | None]
    has_joined: bool


def _run_once(run: Launch, stops: StopNotes) -> RanksFailed | None:
    """None when all went well, a failure where other ports may help; any other one is raised."""
    clear_folder(run.folder)
    with reserved_ports(run.grid.num_ranks + 2) as ports, guarded() as guard:
        ranks = RankProcesses(run, guard)
        try:
            ranks.start(ports, stops)
            outcome = _watch(ranks, stops)
        finally:
            late = ranks.end_all(grace_s=run.grace_s if stops.count else FAILURE_GRACE_S, stops=stops)
            drop_signs(run.folder, range(run.grid.num_ranks))
    if not stops.count:
        return _judge(run, outcome)
    failed = [end for end in outcome.ends if is_own_failure(end, stops.numbers)]
    if failed:
        raise tell_failure(run, failed, stacks=[])
    return _stopped(ranks, stops, late)


def _watch(ranks: RankProcesses, stops: StopNotes) -> _Outcome:
    stall = _wait(ranks, stops)
    ends, stacks = ranks.ends(), []
    # Ranks that only lost others, and nobody who says why: what do the living ones do?
    is_unexplained = ranks.living and not any(end.is_cause for end in ends) and not stops.count
    if stall is not None or is_unexplained:
        stacks = ranks.ask_for_stacks()
    return _Outcome(stall, ends, stacks, ranks.beats(), ranks.has_joined())


def _judge(run: Launch, outcome: _Outcome) -> RanksFailed | None:
    if outcome.stall is not None:
        raise tell_stall(run, outcome.stall, outcome.beats, stacks=outcome.stacks)
    if len(outcome.ends) == run.grid.num_ranks and not any(end.code for end in outcome.ends):
        return None
    number = stopped_all(outcome.ends)
    if number:
        line = f"stopped by {signal.Signals(number).name}, which the ranks, or one of them, were given"
        raise RanksFailed(line, messages=(), exit_code=128 + number)
    failure = tell_failure(run, outcome.ends, stacks=outcome.stacks)
    if outcome.has_joined or not lost_a_port(outcome.ends):
        raise failure
    return failure


def _stopped(ranks: RankProcesses, stops: StopNotes, late: list[int]) -> None:
    """What a stop signal has led to: nothing where all ranks had just ended well."""
    run, ends = ranks.run, ranks.ends()
    if len(ends) == run.grid.num_ranks and not any(end.code for end in ends):
        return
    failed = find_failed_stop(ends, signals=stops.numbers, late=late)
    if failed is not None:
        raise tell_failure(run, [failed], stacks=[])
    if late and stops.count == 1:
        names = ", ".join(map(str, late))
        LOG.warning("rank %s did not end within %g s (stop.grace_s) and was killed", names, run.grace_s)
    stops.act()


def _wait(ranks: RankProcesses, stops: StopNotes) -> Stall | None:
    """Return when all have ended, at a stop signal, when one has failed and the cause has had time to show; or a stall.

    A rank that left too early is a failure too.
    """
    lookout, judged_at = _Lookout(ranks), float("inf")
    while not stops.count and time.monotonic() < judged_at:
        ranks.look()
        if not ranks.living:
            return None
        if judged_at == float("inf") and any(ranks.codes().values()):
            judged_at = time.monotonic() + SURFACE_S
        stall = lookout.look()
        if stall is not None:
            return stall
        if lookout.is_left_alone:
            return None
        time.sleep(POLL_EVERY_S)
    if stops.count:
        words = f"{signal.Signals(stops.numbers[0]).name}: the processes may take {ranks.run.grace_s:g} s to save"
        LOG.info("%s (stop.grace_s); a second signal ends them now", words)
    return None


class _Lookout:
    """Looks at the beats of a run's ranks about once a second."""

    def __init__(self, ranks: RankProcesses) -> None:
        self.ranks = ranks
        self.watch, self.is_left_alone = Watch(time.monotonic()), False

    def look(self) -> Stall | None:
        """The stall there is now, if there is one."""
        now = time.monotonic()
        if now - self.watch.looked < LOOK_EVERY_S:
            return None
        beats = self.ranks.beats()
        self.watch = self.watch.look(now, beats)
        ended = {rank: self.ranks.seen[rank] for rank, code in self.ranks.codes().items() if code == 0}
        self.is_left_alone = left_too_early(ended, beats, now=now)
        return find_stall(beats, self.watch, wanted_s=self.ranks.run.stall_s)
