"""Real runs of several processes, for the flow tests: started by the command a user types, their processes found."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import sample_run

MARK = "ERNIE_TEST_MARK"


class GridRun:
    """A started run; its processes are those that carry its mark in their environment."""

    def __init__(self, config: Path, *words: str, path: str = "") -> None:
        """`path` comes before ours in PYTHONPATH."""
        self.mark = uuid.uuid4().hex
        extra = {"PYTHONPATH": f"{path}:{sample_run.REPOSITORY}"} if path else {}
        self.process = subprocess.Popen(
            sample_run.command("--config", str(config), *words, module="ernie_pp.tasks.cls"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=sample_run.environment(**extra, **{MARK: self.mark}),
            start_new_session=True,
        )

    def pid_of(self, rank: int) -> int:
        """The process of a rank, which must be there."""
        (pid,) = [pid for pid, environment in self._processes() if f"ERNIE_PP_RANK={rank}" in environment]
        return pid

    def has_rank(self, rank: int) -> bool:
        """Whether the process of a rank is there."""
        return any(f"ERNIE_PP_RANK={rank}" in environment for _, environment in self._processes())

    def wait_until(self, ready: Callable[[], bool]) -> None:
        """Return as soon as `ready` says so; the run must still be there."""
        deadline = time.monotonic() + 90
        while not ready():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline, "never got ready"
            time.sleep(0.01)

    def end(self) -> tuple[str, float]:
        """Standard error and the seconds until the run has ended and nobody is left."""
        start = time.monotonic()
        errors = self.process.communicate(timeout=60)[1]
        while self._processes() and time.monotonic() - start < 30:
            time.sleep(0.01)
        assert self._processes() == [], "somebody is left"
        return errors, time.monotonic() - start

    def _processes(self) -> list[tuple[int, list[str]]]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                environment = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
                if f"{MARK}={self.mark}" in environment and int(folder.name) != os.getpid():
                    found.append((int(folder.name), environment))
        return found
