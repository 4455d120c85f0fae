"""Free ports for one run on this machine, which no other run of ours is given meanwhile."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ernie_pp.errors import RunError

# Below the ports that systems hand out by themselves.
PORTS = range(20000, 32000)


def free_port(host: str) -> int:
    """A port of `host` that nobody listens on now."""
    with socket.create_server((host, 0)) as listener:
        return listener.getsockname()[1]


@contextlib.contextmanager
def reserved_ports(count: int) -> Iterator[list[int]]:
    """So many ports that nobody listens on; another run of this user gets others until the block ends."""
    folder = _lock_folder()
    with contextlib.ExitStack() as held:
        ports: list[int] = []
        for port in random.sample(PORTS, len(PORTS)):
            if len(ports) == count:
                break
            if _is_taken(port):
                continue
            lock = _lock(folder / str(port)) if folder is not None else None
            if lock is not None:
                held.callback(os.close, lock)
            if lock is not None or folder is None:
                ports.append(port)
        if len(ports) < count:
            what = f"there are {len(ports)} free ports from {PORTS.start} to {PORTS.stop - 1}, and {count} are needed"
            raise RunError("this machine", what, "End other runs first.")
        yield ports


def _lock_folder() -> Path | None:
    """A folder of this user alone; None where there can be none: the ports are then only looked at."""
    folder = Path(tempfile.gettempdir()) / f"ernie_pp-ports-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder if folder.lstat().st_uid == os.getuid() and not folder.is_symlink() else None
    except OSError:
        return None


def _lock(path: Path) -> int | None:
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return descriptor
    except OSError:
        os.close(descriptor)
        return None


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
        return False
