"""Joining the processes of a run: our own connections, and Paddle's process groups."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import socket
from collections.abc import Mapping
from typing import Any

import paddle.distributed as dist
from paddle.base import core
from paddle.distributed import fleet

from ernie_pp.parallel.beats import Beats, beat_path
from ernie_pp.parallel.control import Control, open_star
from ernie_pp.parallel.gloo import set_up_gloo
from ernie_pp.parallel.peers import check_port_free
from ernie_pp.parallel.place import Place
from ernie_pp.parallel.same_run import check_same_run
from ernie_pp.parallel.topology import Grid
from ernie_pp.parallel.world import World

# Fleet's axes from the outermost to the innermost, by our name of the order.
_AXES = {
    "fleet": ["dp", "pp", "sharding", "sep", "mp"],
    "stages": ["pp", "dp", "sharding", "sep", "mp"],
}
_ENDPOINT, _MASTER = "PADDLE_CURRENT_ENDPOINT", "PADDLE_MASTER"
_KEY = "ernie_pp/control"


def join_world(grid: Grid, place: Place, *, is_cpu: bool, settings: Mapping[str, str] | None = None) -> World:
    """The world of this process; all ranks call this, after Paddle was told its device.

    RunError on all of them, before Paddle connects anything, where `settings` are not the same on all.
    """
    if place.num_ranks == 1:
        return World(is_cpu=is_cpu)
    host = _own_host(place)
    control = _open_control(place, host)
    if settings is not None:
        check_same_run(control, settings)
    _init_paddle(grid, host=host, is_cpu=is_cpu)
    assert dist.get_rank() == control.rank, "Paddle and we count the ranks alike"
    group = fleet.get_hybrid_communicate_group().get_data_parallel_group()
    beats = Beats(beat_path(place.records, place.rank) if place.records is not None else None)
    group = group if grid.replicas > 1 else None
    return World(grid, control, group, host, is_cpu, beats, launcher="ours" if place.kind == "ours" else "other")


def _own_host(place: Place) -> str:
    """Where other ranks reach this process: loopback for those that we started, all on this machine."""
    if place.kind == "ours":
        return "127.0.0.1"
    return os.environ.get(_ENDPOINT, "127.0.0.1:0").rpartition(":")[0]


def _init_paddle(grid: Grid, *, host: str, is_cpu: bool) -> None:
    if is_cpu:
        os.environ["PADDLE_DISTRI_BACKEND"] = "gloo"  # else Paddle makes no process groups on CPUs
        set_up_gloo(host)
    # Paddle lists the flags that differ from its defaults.
    with contextlib.redirect_stderr(io.StringIO()):
        fleet.init(is_collective=True, strategy=_strategy(grid), log_level="WARNING")


def _open_control(place: Place, host: str) -> Control:
    if place.kind == "paddle":
        return _agree_on_control(place, host)
    control = open_star(place.rank, place.num_ranks, address=place.address, nonce=place.nonce)
    if place.rank == 0:
        check_port_free(int(os.environ[_MASTER].rpartition(":")[2]))  # Paddle's store would abort the process
    return control


def _agree_on_control(place: Place, host: str) -> Control:
    """Under another launcher: rank 0 says in Paddle's store where it listens."""
    store = core.create_or_get_global_tcp_store()
    listener = None
    if place.rank == 0:
        listener = socket.create_server((host, 0))
        store.set(_KEY, f"{host}:{listener.getsockname()[1]} {secrets.token_hex(32)}")
    address, nonce = bytes(store.get(_KEY)).decode().split()
    return open_star(place.rank, place.num_ranks, address=address, nonce=nonce, listener=listener)


def _strategy(grid: Grid) -> Any:
    strategy: Any = fleet.DistributedStrategy()
    strategy.hybrid_configs = {
        "dp_degree": grid.replicas,
        "pp_degree": grid.stages,
        "mp_degree": 1,
        "sharding_degree": 1,
        "sep_degree": 1,
        "order": _AXES[grid.order],
    }
    pipeline = strategy.hybrid_configs["pp_configs"]
    pipeline.enable_dynamic_shape = True  # micro-batches have the length of their longest row
    pipeline.delay_scale_loss = True  # our losses are shares of the step's already
    return strategy
