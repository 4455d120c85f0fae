"""Makes Paddle's process groups of CPU processes reliable."""

from __future__ import annotations

import contextlib
import fcntl
import inspect
import os
import socket
import struct
from typing import Any

from paddle.base import core
from paddle.distributed import ParallelEnv, collective

from ernie_pp.parallel.ports import free_port

_STORE_TIMEOUT_S = 300
_INTERFACE = "GLOO_SOCKET_IFNAME"
_SIOCGIFADDR = 0x8915  # of Linux's <linux/sockios.h>
_STORES: list[core.TCPStore] = []  # alive as long as their groups


def set_up_gloo(host: str) -> None:
    """To be called once, before Paddle's first process group; `host` is where other ranks reach this process."""
    if _INTERFACE not in os.environ and not host.startswith("127."):
        # gloo asks what this machine's own name means, often 127.0.0.1, and would tell that to other machines.
        interface = find_interface(host)
        if interface is not None:
            os.environ[_INTERFACE] = interface
    # Paddle 3.3 sets it for devices only, and PipelineLayer reads it.
    ParallelEnv._device_id = 0  # type: ignore[attr-defined]
    original = collective._new_process_group_impl
    signature = inspect.signature(original)

    def new_group(*words: Any, **named: Any) -> Any:
        given = signature.bind(*words, **named)
        given.apply_defaults()
        group = given.arguments
        is_default = collective._default_store is None or group["group_name"] == collective._default_group_name
        if group["backend"] == "gloo" and not is_default:
            group["store"] = _own_store(
                group["store"], group["rank"], group["world_size"], group_id=group["group_id"], host=host
            )
        return original(*given.args, **given.kwargs)

    collective._new_process_group_impl = new_group


def find_interface(host: str) -> str | None:
    """The network interface of this machine that has the IPv4 address of `host`; None where none has."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        wanted = socket.gethostbyname(host)
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):  # it has no such address
                answer = fcntl.ioctl(asked.fileno(), _SIOCGIFADDR, struct.pack("256s", name.encode()))
                if socket.inet_ntoa(answer[20:24]) == wanted:
                    return name
    return None


def _own_store(store: core.TCPStore, rank: int, world_size: int, *, group_id: int, host: str) -> core.TCPStore:
    """A store for one group: all of Paddle's gloo groups write the same keys, and in one store read each other's."""
    key = f"ernie_pp/gloo/{group_id}"
    if rank == 0:
        # The server's constructor waits for all members, so they must know the port before it.
        port = free_port(host)
        store.set(key, f"{host}:{port}")
        own = core.TCPStore(host, port, True, world_size, _STORE_TIMEOUT_S)
    else:
        address = bytes(store.get(key)).decode()
        other, _, port = address.rpartition(":")
        own = core.TCPStore(other, int(port), False, world_size, _STORE_TIMEOUT_S)
    _STORES.append(own)
    return own
