"""The watchdog beside a launcher, and what it is told."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ernie_pp.parallel.launcher import watchdog

# It has nothing to do when all is over.
_LONGEST_GOODBYE_S = 5.0


@contextlib.contextmanager
def guarded() -> Iterator[subprocess.Popen]:
    """The watchdog while the block runs."""
    command = [sys.executable, "-I", "-S", str(Path(watchdog.__file__))]
    guard = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,  # a stop signal of the terminal is not for it
    )
    try:
        yield guard
    finally:
        tell(guard, watchdog.OVER)
        with contextlib.suppress(OSError):
            assert guard.stdin is not None
            guard.stdin.close()
        try:
            guard.wait(timeout=_LONGEST_GOODBYE_S)
        except subprocess.TimeoutExpired:  # somebody has stopped it
            guard.kill()
            guard.wait()


def tell(guard: subprocess.Popen, line: str) -> None:
    """Give the watchdog a process group to end, or the word that all is over."""
    assert guard.stdin is not None, "it was given a pipe"
    with contextlib.suppress(OSError):  # somebody has killed it; the run needs it only if we are killed too
        guard.stdin.write(line + "\n")
        guard.stdin.flush()
