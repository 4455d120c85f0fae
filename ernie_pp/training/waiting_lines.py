"""A file that lines are added to, which wait in memory while there is no room for them."""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

from ernie_pp.durable import told_as_unwritable

LOG = logging.getLogger("ernie_pp")


class WaitingLines:
    """Lines in the order they are given, each in the file as soon as it finds room."""

    def __init__(self, path: Path) -> None:
        self._path, self._waiting = path, b""
        with told_as_unwritable(path):
            self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        self._is_told = False

    def write(self, line: str) -> None:
        """Add a line; a warning where it has to wait."""
        self._waiting += line.encode("utf-8")
        why = self._try()
        if why is not None and not self._is_told:
            LOG.warning("%s cannot be written: %s; its lines wait, training goes on", self._path, why)
        self._is_told = why is not None

    def sync(self) -> None:
        """See that what was written is on the disk, as far as it lets us."""
        with contextlib.suppress(OSError):
            os.fsync(self._descriptor)

    def close(self) -> None:
        """One more try, and the end; a warning where lines are lost."""
        why = self._try()
        if why is not None:
            LOG.warning("%s lacks its last %d bytes: %s", self._path, len(self._waiting), why)
        with contextlib.suppress(OSError):
            os.close(self._descriptor)

    def _try(self) -> str | None:
        """Write what waits; why it must wait on."""
        try:
            while self._waiting:
                self._waiting = self._waiting[os.write(self._descriptor, self._waiting) :]
        except OSError as error:
            return error.strerror or str(error)
        return None
