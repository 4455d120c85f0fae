"""The processes of a run: started, looked at and ended together."""

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

from ernie_pp.parallel.beats import Beat, read_beat
from ernie_pp.parallel.launcher.environment import Wiring, rank_environment
from ernie_pp.parallel.launcher.guard import tell
from ernie_pp.parallel.launcher.rank_files import has_stack, open_log
from ernie_pp.parallel.launcher.stop_notes import StopNotes
from ernie_pp.parallel.launcher.verdict import RankEnd
from ernie_pp.parallel.rank_record import read_record
from ernie_pp.parallel.stacks import ASKED_BY
from ernie_pp.parallel.topology import Grid

POLL_EVERY_S = 0.03
_LONGEST_WAIT_FOR_STACKS_S = 2.0


@dataclass(frozen=True)
class Launch:
    """A run to start: the command of every rank, its grid, where logs go, and threads of each process.

    `grace_s` is how long the ranks may take to end when the run is told to stop; `stall_s` how long they may live
    without progress (none: by what a step usually takes).
    """

    command: Sequence[str]
    grid: Grid
    folder: Path
    threads: int = 1
    grace_s: float = 30.0
    stall_s: float | None = None


class RankProcesses:
    """The processes of a run; `guard` is the watchdog that ends them if this process is killed."""

    def __init__(self, run: Launch, guard: subprocess.Popen) -> None:
        self.run, self.guard = run, guard
        self.processes: list[subprocess.Popen] = []
        self.seen: dict[int, float] = {}  # rank -> when its end was seen

    def start(self, ports: Sequence[int], stops: StopNotes) -> None:
        """Start every rank, unless a stop signal comes in between."""
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

    def look(self) -> None:
        """Note which ranks have ended by now."""
        for rank, process in enumerate(self.processes):
            if rank not in self.seen and process.poll() is not None:
                self.seen[rank] = time.monotonic()

    @property
    def living(self) -> list[int]:
        """The ranks that had not ended at the last look."""
        return [rank for rank in range(len(self.processes)) if rank not in self.seen]

    def codes(self) -> dict[int, int]:
        """The exit codes of the ranks that had ended at the last look."""
        return {rank: self.processes[rank].returncode for rank in self.seen}

    def beats(self) -> dict[int, Beat | None]:
        """The last beat of every rank that lives."""
        return {rank: read_beat(self.run.folder, rank) for rank in self.living}

    def has_joined(self) -> bool:
        """Whether any rank has got so far that it leaves beats."""
        return any(read_beat(self.run.folder, rank) is not None for rank in range(len(self.processes)))

    def ends(self) -> list[RankEnd]:
        """Of the ranks that have ended so far."""
        self.look()
        folder = self.run.folder
        return [RankEnd(rank, code, self.seen[rank], read_record(folder, rank)) for rank, code in self.codes().items()]

    def ask_for_stacks(self) -> list[int]:
        """The ranks that live and have written their stacks."""
        asked = [rank for rank, beat in self.beats().items() if beat is not None]  # it kills one that cannot answer yet
        for rank in asked:
            self.processes[rank].send_signal(ASKED_BY)
        deadline = time.monotonic() + _LONGEST_WAIT_FOR_STACKS_S
        while time.monotonic() < deadline and not all(has_stack(self.run.folder, rank) for rank in asked):
            time.sleep(POLL_EVERY_S)
        time.sleep(POLL_EVERY_S)  # the last one may be in the middle of it
        return [rank for rank in asked if has_stack(self.run.folder, rank)]

    def end_all(self, *, grace_s: float, stops: StopNotes) -> list[int]:
        """Ask all to end, wait, kill whatever is left of their groups; the ranks that the wait was too short for.

        A stop signal beyond the first ends the waiting.
        """
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + grace_s
        while time.monotonic() < deadline and stops.count < 2 and any(p.poll() is None for p in self.processes):
            time.sleep(POLL_EVERY_S)
        self.look()
        late = self.living
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # also the children of a rank that has ended
        for process in self.processes:
            process.wait()
        return late

    def _start(self, rank: int, environment: dict[str, str]) -> None:
        with contextlib.ExitStack() as opened:
            log = opened.enter_context(open_log(self.run.folder, rank)) if rank else None
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
