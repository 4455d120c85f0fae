"""The word that a failed rank leaves for the launcher: what it has to say, and whether it was the cause."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from ernie_pp.errors import PeerLost
from ernie_pp.parallel.peers import PortTaken

# What Paddle's transports say of a peer that has gone.
_TRANSPORT = re.compile(r"gloo/|Connection (reset|closed) by peer|TCPStore|TCP connection", re.IGNORECASE)


@dataclass(frozen=True)
class RankRecord:
    """One rank's end. `time` is the machine's monotonic clock, seconds.

    `is_secondary`: it only lost another rank. `is_port_taken`: somebody else has a port of the run.
    """

    rank: int
    code: int
    text: str
    is_secondary: bool
    time: float
    is_port_taken: bool = False


def build_record(rank: int, *, code: int, text: str, error: BaseException | None) -> RankRecord:
    """The record of a failure that happens now; `text` is what a user should see of it."""
    kind = {"is_secondary": _is_secondary(error), "is_port_taken": isinstance(error, PortTaken)}
    return RankRecord(rank, code, text, time=time.monotonic(), **kind)


def record_path(folder: Path, rank: int) -> Path:
    """Where a rank leaves its record."""
    return folder / f"rank-{rank}.json"


def write_record(folder: Path, record: RankRecord) -> None:
    """Leave a record, whole or not at all; OSError where it cannot be written."""
    path = record_path(folder, record.rank)
    temporary = path.with_suffix(".tmp")
    try:
        temporary.touch(mode=0o600)  # a message may quote the user's rows
        temporary.write_text(json.dumps(asdict(record), ensure_ascii=False), encoding="utf-8", errors="replace")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_record(folder: Path, rank: int) -> RankRecord | None:
    """The record of a rank; None where it has left none that can be read."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return RankRecord(**json.loads(record_path(folder, rank).read_text(encoding="utf-8")))
    return None


def _is_secondary(error: BaseException | None) -> bool:
    if isinstance(error, PeerLost):
        return True
    # Paddle's C++ side has no error class of its own for it, and takes another one in each place. A connection of the
    # user's (a download, the reader of our output) is none between ranks.
    is_paddles = isinstance(error, (RuntimeError, OSError, ValueError)) and not isinstance(error, BrokenPipeError)
    return is_paddles and bool(_TRANSPORT.search(str(error)))
