"""The parent of a run of many processes: starts the ranks, watches over them, and ends them all together.

parent --+-- rank 0      has the terminal, writes the run folder
         +-- rank 1 ...  ranks/rank-1.log
         +-- watchdog    ends the ranks' process groups if the parent is killed
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.durable import told_as_unwritable
from ernie_pp.errors import RanksFailed
from ernie_pp.parallel.launcher.environment import Wiring, rank_environment
from ernie_pp.parallel.launcher.guard import guarded, tell
from ernie_pp.parallel.launcher.stop_notes import StopNotes, noted_stops
from ernie_pp.parallel.launcher.verdict import RankEnd, judge
from ernie_pp.parallel.ports import reserved_ports
from ernie_pp.parallel.rank_record import read_record
from ernie_pp.parallel.topology import Grid

LOOK_EVERY_S = 0.03
# After the first end: the true cause may show a moment later than what it brought about.
SURFACE_S = 1.0
_LOG_LINES_SHOWN = 20


@dataclass(frozen=True)
class Launch:
    """A run to start: the command of every rank, its grid, where logs go, and threads of each process.

    `grace_s` is how long a rank may take to end when it is told to.
    """

    command: Sequence[str]
    grid: Grid
    folder: Path
    threads: int = 1
    grace_s: float = 5.0


def launch(run: Launch) -> None:
    """Run all ranks to their end; RanksFailed where one fails, the signal's own exit where one stops this process.

    Nothing that was started is left in any case. Call it from the main thread.
    """
    with told_as_unwritable(run.folder):
        run.folder.mkdir(parents=True, exist_ok=True)
        for path in run.folder.glob("rank-*.*"):
            path.unlink()
    with noted_stops() as stops, reserved_ports(run.grid.num_ranks + 2) as ports, guarded() as guard:
        ranks = _Ranks(run, guard)
        try:
            ranks.start(ports, stops)
            ranks.wait(stops)
            ends = ranks.ends()
        finally:
            ranks.end_all(stops)
        if len(ends) == run.grid.num_ranks and not any(end.code for end in ends):
            return
        stops.act()
        raise _failure(run, ends)


class _Ranks:
    """The processes of a run."""

    def __init__(self, run: Launch, guard: subprocess.Popen) -> None:
        self.run, self.guard = run, guard
        self.processes: list[subprocess.Popen] = []
        self.seen: dict[int, float] = {}  # rank -> when its end was seen

    def start(self, ports: Sequence[int], stops: StopNotes) -> None:
        run = self.run
        wiring = Wiring(
            num_ranks=run.grid.num_ranks,
            ports=ports,
            nonce=secrets.token_hex(16),
            parent=os.getpid(),
            records=run.folder.absolute(),
            threads=run.threads,
        )
        for rank in range(run.grid.num_ranks):
            if stops.count:
                return
            self._start(rank, rank_environment(os.environ, wiring, rank=rank))

    def _start(self, rank: int, environment: dict[str, str]) -> None:
        with contextlib.ExitStack() as opened:
            log = None
            if rank:
                path = log_path(self.run.folder, rank)
                with told_as_unwritable(path):
                    log = opened.enter_context(open(path, "wb"))
            process = subprocess.Popen(
                self.run.command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a group of its own, to be ended with all its children
            )
        self.processes.append(process)
        tell(self.guard, str(process.pid))

    def wait(self, stops: StopNotes) -> None:
        """Return when all have ended, when one has failed and the cause has had time to show, or at a stop signal."""
        judged_at = float("inf")
        while not stops.count and time.monotonic() < judged_at:
            self._look()
            if len(self.seen) == len(self.processes):
                return
            if judged_at == float("inf") and any(self.processes[rank].returncode for rank in self.seen):
                judged_at = time.monotonic() + SURFACE_S
            time.sleep(LOOK_EVERY_S)

    def ends(self) -> list[RankEnd]:
        """Of the ranks that have ended by themselves so far."""
        self._look()
        return [
            RankEnd(rank, self.processes[rank].returncode, seen, read_record(self.run.folder, rank))
            for rank, seen in self.seen.items()
        ]

    def end_all(self, stops: StopNotes) -> None:
        """Ask all to end, wait, then kill whatever is left of their groups; a second stop signal ends the waiting."""
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + self.run.grace_s
        while time.monotonic() < deadline and stops.count < 2 and any(p.poll() is None for p in self.processes):
            time.sleep(LOOK_EVERY_S)
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # also the children of a rank that has ended
        for process in self.processes:
            process.wait()

    def _look(self) -> None:
        for rank, process in enumerate(self.processes):
            if rank not in self.seen and process.poll() is not None:
                self.seen[rank] = time.monotonic()


def log_path(folder: Path, rank: int) -> Path:
    """What a rank other than 0 prints."""
    return folder / f"rank-{rank}.log"


def _failure(run: Launch, ends: Sequence[RankEnd]) -> RanksFailed:
    verdict = judge(ends)
    first, grid = verdict.first, run.grid
    name = f"rank {first.rank} (stage {grid.stage_of(first.rank)}, replica {grid.replica_of(first.rank)})"
    messages, where = verdict.messages, ""
    if first.rank:
        log = log_path(run.folder, first.rank)
        where = f"; its output: {log}"
        messages = messages if first.record is not None else (*_last_lines(log), *messages)
    return RanksFailed(f"{name} {verdict.phrase}{where}", messages=messages, exit_code=first.exit_code)


def _last_lines(log: Path) -> list[str]:
    """One message of the last lines, or none: a rank that crashed may have said why in its own way."""
    with contextlib.suppress(OSError):
        lines = log.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()[-_LOG_LINES_SHOWN:]
        return ["\n".join(lines)] if lines else []
    return []
