"""One start of the run: its processes, and the checkpoints seen to appear."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from ernie_pp.training.checkpoint.choose import list_steps
from tools.soak_runs.findings import sign_of_log
from tools.soak_runs.sample import Job

ROOT = Path(__file__).resolve().parents[2]
_MARK = "SOAK_MARK"
_LIMIT_S = 300.0  # far beyond any start or step of so small a job


class Attempt:
    """A started command; its processes are those that carry its mark in their environment."""

    def __init__(self, job: Job, output: Path) -> None:
        self.output, self.checkpoints = output, output / "checkpoints"
        self._mark = uuid.uuid4().hex
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (goes with this object)
        self.log_before = sign_of_log(output)
        self._before = {step for step, _ in list_steps(self.checkpoints)}
        self.committed: set[int] = set()
        self.process = subprocess.Popen(
            job.command(output),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._said,
            env={**os.environ, _MARK: self._mark, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )

    def is_over(self) -> bool:
        """Whether the started process has ended."""
        return self.process.poll() is not None

    def wait_until(self, ready: Callable[[], bool], *, pause_s: float = 0.001) -> bool:
        """Watch the checkpoints until `ready` says so; False where the run ended before."""
        deadline = time.monotonic() + _LIMIT_S
        while not ready():
            if self.is_over():
                return False
            if time.monotonic() > deadline:
                raise TimeoutError(f"the run has not come so far in {_LIMIT_S:.0f} s:\n{self.said()}")
            self.look()
            time.sleep(pause_s)
        return True

    def look(self) -> None:
        """Note the checkpoints that have come since the start."""
        with contextlib.suppress(OSError):
            self.committed |= {step for step, _ in list_steps(self.checkpoints)} - self._before

    def is_saving(self) -> bool:
        """Whether a checkpoint is being written now."""
        with contextlib.suppress(OSError):
            return any(name.startswith(".tmp-") for name in os.listdir(self.checkpoints))
        return False

    def signal_rank(self, rank: int, number: int) -> bool:
        """Send a signal to a rank's process; False where there is none."""
        for pid, environment in self._processes():
            if f"ERNIE_PP_RANK={rank}" in environment:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
                    return True
        return False

    def end(self, *, orphan_limit_s: float = 10.0) -> tuple[int, int]:
        """Wait for the end; exit code, and how many processes outlived it (they are killed)."""
        self.wait_until(lambda: False, pause_s=0.005)
        code = self.process.wait()
        deadline = time.monotonic() + orphan_limit_s
        while self._processes() and time.monotonic() < deadline:
            time.sleep(0.01)
        orphans = self._processes()
        for pid, _ in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        self.look()
        return code, len(orphans)

    def said(self) -> str:
        """The end of what the run has written to standard error."""
        self._said.seek(0)
        return self._said.read().decode("utf-8", "replace")[-3000:]

    def _processes(self) -> list[tuple[int, list[str]]]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                environment = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
                if f"{_MARK}={self._mark}" in environment:
                    found.append((int(folder.name), environment))
        return found
