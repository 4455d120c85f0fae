"""run.log: everything said on the screen, in the run folder too, and the lock that keeps a second run out."""

from __future__ import annotations

import contextlib
import fcntl
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from ernie_pp.durable import check_writable, told_as_unwritable
from ernie_pp.errors import RunError

LOG = logging.getLogger("ernie_pp")


class RunLog(logging.Handler):
    """Keeps what is said until `begin`: the log of an earlier run stands until this run takes its place."""

    def __init__(self, file: TextIO, path: Path) -> None:
        super().__init__()
        self._file, self._path = file, path
        self._held: list[str] | None = []
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))

    def begin(self) -> None:
        """Replace the earlier log by what was said so far; from now on every line is written at once."""
        if self._held is not None:
            with told_as_unwritable(self._path):
                self._file.truncate(0)
        self.go_on()

    def go_on(self) -> None:
        """As `begin`, behind what an earlier process of the same run has said."""
        if self._held is None:
            return
        with told_as_unwritable(self._path):
            held, self._held = self._held, None
            self._file.writelines(held)
            self._file.flush()

    def note(self, text: str) -> None:
        """Words that the screen gets from elsewhere; nothing while an earlier log stands."""
        if self._held is None:
            self.emit(logging.makeLogRecord({"msg": text, "levelno": logging.ERROR, "levelname": "ERROR"}))

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record) + "\n"
        if self._held is not None:
            self._held.append(line)
            return
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            # The screen still says everything, and what a run must write tells by itself where it cannot be.
            LOG.removeHandler(self)
            LOG.warning("%s: cannot be written: %s; the run goes on without it", self._path, error.strerror)


@contextlib.contextmanager
def open_run_log(path: Path, *, hold: bool) -> Iterator[RunLog]:
    """Write run.log while the block runs; RunError where another run is writing there, or nobody can.

    `hold` keeps an earlier log until `begin`: without it there is none worth keeping.
    """
    check_writable(path)  # a pipe would be waited for
    with told_as_unwritable(path):
        file = open(path, "a", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 (closed below)
    log = RunLog(file, path)
    try:
        lock_run(file, path.parent)
        if not hold:
            log.begin()
        LOG.addHandler(log)
        yield log
    finally:
        LOG.removeHandler(log)
        with contextlib.suppress(OSError):  # a full disk has been told
            file.close()


def check_unlocked(path: Path) -> None:
    """RunError where another run is writing this run.log."""
    if path.is_file():
        with open(path, "rb") as file:
            lock_run(file, path.parent)


def lock_run(file: TextIO | BinaryIO | int, folder: Path) -> None:
    """Hold a run folder by an open file of it until that is closed, or this process has ended in whatever way."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        what = "another run is training in this folder"
        raise RunError(str(folder), what, "Choose another output_dir, or wait for its end.") from error
    except OSError:
        LOG.debug("%s: this file system has no locks", folder)
