"""What the launcher and its ranks leave in one folder for each other, readable by the user alone."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from ernie_pp.durable import told_as_unwritable
from ernie_pp.parallel.beats import beat_path
from ernie_pp.parallel.stacks import stack_path

_OURS = re.compile(r"rank-\d+\.(log|json|beat|stack|tmp)")
_LOG_LINES_SHOWN = 20
_LOG_BYTES_LOOKED_AT = 100_000  # a long run's log may be large


def clear_folder(folder: Path) -> None:
    """Make the folder, or remove what the ranks of an earlier run have left in it."""
    with told_as_unwritable(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)  # logs may quote the user's rows
        for path in folder.iterdir():
            if _OURS.fullmatch(path.name):
                path.unlink()


def drop_signs(folder: Path, ranks: Iterable[int]) -> None:
    """Remove what tells nothing once the ranks have ended: beats, and the stacks nobody asked for."""
    for rank in ranks:
        with contextlib.suppress(OSError):
            beat_path(folder, rank).unlink(missing_ok=True)
            if not has_stack(folder, rank):
                stack_path(folder, rank).unlink(missing_ok=True)


def has_stack(folder: Path, rank: int) -> bool:
    """Whether a rank has written its stacks."""
    with contextlib.suppress(OSError):
        return stack_path(folder, rank).stat().st_size > 0
    return False


def log_path(folder: Path, rank: int) -> Path:
    """What a rank other than 0 prints."""
    return folder / f"rank-{rank}.log"


def open_log(folder: Path, rank: int) -> BinaryIO:
    """A rank's log to be written; RunError where it cannot be."""
    path = log_path(folder, rank)
    with told_as_unwritable(path):
        return os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_APPEND, 0o600), "wb")


def last_lines(folder: Path, rank: int) -> list[str]:
    """One message of the log's last lines, or none: a rank that crashed may have said why in its own way."""
    with contextlib.suppress(OSError):
        with open(log_path(folder, rank), "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _LOG_BYTES_LOOKED_AT, 0))
            text = file.read().decode("utf-8", errors="replace")
        lines = text.rstrip().splitlines()[-_LOG_LINES_SHOWN:]
        return ["\n".join(lines)] if lines else []
    return []
