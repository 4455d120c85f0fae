"""Two hosts on one machine: network namespaces that are joined by a cable."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """One end: its namespace, its interface of that name, and its address."""

    name: str
    address: str

    def command(self, *words: str) -> list[str]:
        """The same command on this host."""
        return ["ip", "netns", "exec", self.name, *words]

    def link(self, state: str) -> None:
        """Plug the cable in ("up") or out ("down")."""
        _ip("-n", self.name, "link", "set", self.name, state)
        if state == "up":
            # The address stays, and what the kernel knew of the way may be gone.
            _ip("-n", self.name, "address", "replace", f"{self.address}/24", "dev", self.name)


@contextlib.contextmanager
def two_hosts() -> Iterator[tuple[Host, Host]]:
    """Two hosts that reach each other; PermissionError or FileNotFoundError where this machine allows none."""
    if shutil.which("ip") is None:
        raise FileNotFoundError("the command `ip` is not there")
    tag = f"{os.getpid() % 100000}"
    first, second = Host(f"epa{tag}", "10.231.77.1"), Host(f"epb{tag}", "10.231.77.2")
    with contextlib.ExitStack() as made:
        for host in (first, second):
            _ip("netns", "add", host.name)
            made.callback(_ip, "netns", "delete", host.name)  # and its end of the cable
        _ip("link", "add", first.name, "netns", first.name, "type", "veth", "peer", second.name, "netns", second.name)
        for host in (first, second):
            _ip("-n", host.name, "link", "set", "lo", "up")
            host.link("up")
        yield first, second


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode:
        raise PermissionError(f"ip {' '.join(words)}: {done.stderr.strip()}")
