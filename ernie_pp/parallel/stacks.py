"""The Python stacks of a rank's threads, written when the launcher asks, whatever the rank is at."""

from __future__ import annotations

import faulthandler
import os
import signal
from pathlib import Path

ASKED_BY = signal.SIGUSR1


def stack_path(folder: Path, rank: int) -> Path:
    """Where the stacks of a rank are written; empty until somebody asks."""
    return folder / f"rank-{rank}.stack"


def answer_for_stacks(folder: Path, rank: int) -> None:
    """Write this process's stacks at every ASKED_BY from now on; a call into C++ that never returns hinders nothing."""
    file = os.open(stack_path(folder, rank), os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    faulthandler.register(ASKED_BY, file=file, all_threads=True, chain=False)
