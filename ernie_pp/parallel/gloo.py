"""Makes Paddle's process groups of CPU processes reliable."""

from __future__ import annotations

import socket
from typing import Any

from paddle.base import core
from paddle.distributed import ParallelEnv, collective

_STORE_TIMEOUT_S = 300
_STORES: list[Any] = []  # alive as long as their groups


def set_up_gloo(host: str) -> None:
    """To be called once, before Paddle's first process group; `host` is where other ranks reach this process."""
    # Paddle 3.3 sets it for devices only, and PipelineLayer reads it.
    ParallelEnv._device_id = 0  # type: ignore[attr-defined]
    original = collective._new_process_group_impl

    def new_group(
        backend: str, store: Any, rank: int, world_size: int, group_name: str, *rest: Any, **more: Any
    ) -> Any:
        is_default = collective._default_store is None or group_name == collective._default_group_name
        if backend == "gloo" and not is_default:
            store = _own_store(
                store, rank, world_size, group_id=rest[1] if len(rest) > 1 else more["group_id"], host=host
            )
        return original(backend, store, rank, world_size, group_name, *rest, **more)

    collective._new_process_group_impl = new_group


def _own_store(store: Any, rank: int, world_size: int, *, group_id: int, host: str) -> Any:
    """A store for one group: all of Paddle's gloo groups write the same keys, and in one store read each other's."""
    key = f"ernie_pp/gloo/{group_id}"
    if rank == 0:
        # The server's constructor waits for all members, so they must know the port before it.
        with socket.create_server((host, 0)) as listener:
            port = listener.getsockname()[1]
        store.set(key, f"{host}:{port}")
        own = core.TCPStore(host, port, True, world_size, _STORE_TIMEOUT_S)
    else:
        address = bytes(store.get(key)).decode()
        other, _, port = address.rpartition(":")
        own = core.TCPStore(other, int(port), False, world_size, _STORE_TIMEOUT_S)
    _STORES.append(own)
    return own
