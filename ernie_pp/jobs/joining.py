"""Joining the other processes of a run, and doing in turn what one process must do first."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ernie_pp.config import ParallelConfig
from ernie_pp.jobs.ranks import grid_of
from ernie_pp.parallel.join import join_world
from ernie_pp.parallel.place import Place
from ernie_pp.parallel.world import World


def open_world(place: Place, parallel: ParallelConfig, *, is_cpu: bool) -> World:
    """The world of this process; every rank calls it, after Paddle was told its device."""
    return join_world(grid_of(parallel), place, is_cpu=is_cpu)


@contextlib.contextmanager
def writer_first(world: World) -> Iterator[None]:
    """Rank 0 does the work of the block, then all others at once, which find what it has left on the disk."""
    if not world.is_writer:
        world.control.meet()
    yield
    if world.is_writer:
        world.control.meet()
