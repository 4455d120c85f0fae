"""Notices within half a minute that a connection's other machine is cut off, also with unanswered data on the way.

TCP by itself asks an idle connection whether it lives, but repeats unanswered data for a quarter of an hour. Its own
limit for that, TCP_USER_TIMEOUT, also ends the connection to a healthy rank that is busy for that long while messages
wait before its full buffer. So a thread looks at what the system knows of each connection.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
import weakref
from dataclasses import dataclass

LIMIT_S = 30.0
_LOOK_EVERY_S = 2.0
_KEEP_ALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
# The beginning of Linux's struct tcp_info, which only grows at its end.
_TCP_INFO = struct.Struct("<8B13I")
_REPEATS, _PROBES, _LAST_ANSWER_MS = 2, 3, 20
# Of one alone the answer may have been saved: systems answer out of turn only so often.
_LEAST_UNANSWERED = 2


@dataclass(frozen=True)
class Traffic:
    """How often in a row the other side was sent something and has not answered, and how long it has said nothing."""

    num_unanswered: int
    silence_s: float

    @property
    def is_one_sided(self) -> bool:
        """Whether we speak and hear nothing for too long. A busy rank's system answers for it."""
        return self.num_unanswered >= _LEAST_UNANSWERED and self.silence_s > LIMIT_S


def watch_connection(connection: socket.socket) -> None:
    """End the connection when the other machine is cut off: whoever waits on it then sees that it has ended."""
    if connection.family not in (socket.AF_INET, socket.AF_INET6):
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, seconds in _KEEP_ALIVE.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), seconds)
    if hasattr(socket, "TCP_INFO"):
        _LOOKOUT.add(connection)


def read_traffic(connection: socket.socket) -> Traffic:
    """What the system knows of a connection; OSError where it is closed."""
    values = _TCP_INFO.unpack(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size))
    return Traffic(max(values[_REPEATS], values[_PROBES]), values[_LAST_ANSWER_MS] / 1000)


class _Lookout:
    """One thread for all connections of this process, started with the first one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._thread: threading.Thread | None = None

    def add(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.add(connection)
            # A fork has no threads but the one that made it.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._watch, name="cut-off", daemon=True)
                self._thread.start()

    def _watch(self) -> None:
        suspects: set[socket.socket] = set()
        while True:
            time.sleep(_LOOK_EVERY_S)
            with self._lock:
                connections = set(self._connections)
            one_sided = set(filter(_is_one_sided, connections))
            # Twice: an answer may just be on its way.
            for connection in one_sided & suspects:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            suspects = one_sided


def _is_one_sided(connection: socket.socket) -> bool:
    try:
        return read_traffic(connection).is_one_sided
    except OSError:
        return False


_LOOKOUT = _Lookout()
