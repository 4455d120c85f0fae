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
        try:
            while self._waiting:
                self._waiting = self._waiting[os.write(self._descriptor, self._waiting) :]
            self._is_told = False
        except OSError as error:
            if not self._is_told:
                LOG.warning("%s cannot be written: %s; its lines wait, training goes on", self._path, error.strerror)
            self._is_told = True

    def close(self) -> None:
        """One more try, and the end."""
        with contextlib.suppress(OSError):
            os.write(self._descriptor, self._waiting)
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
