"""Joining the other processes of a run, and doing in turn what one process must do first."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import PurePath

from ernie_pp import __version__
from ernie_pp.config import RunConfig
from ernie_pp.config.fields import settings_by_key
from ernie_pp.jobs.ranks import grid_of
from ernie_pp.parallel.join import join_world
from ernie_pp.parallel.own_watch import watch_over
from ernie_pp.parallel.place import Place
from ernie_pp.parallel.world import World

# What another machine of the same run may have otherwise.
_OF_A_MACHINE = ("cpu.", "device", "overwrite")


def open_run(place: Place, config: RunConfig, *, is_cpu: bool) -> World:
    """The world of this process in a run; every rank calls it, after Paddle was told its device.

    RunError where the ranks that met are not of one run. Without our launcher this process watches over itself.
    """
    world = join_world(grid_of(config.parallel), place, is_cpu=is_cpu, settings=settings_of_run(config))
    if place.kind == "paddle":
        watch_over(world.beats, rank=world.rank, stall_s=config.stop.stall_s)
    return world


def settings_of_run(config: RunConfig) -> dict[str, str]:
    """What must be the same for every rank of a run: the settings by key, and our version.

    Of a path the last name: machines may see one shared folder at different places, and two runs of one recipe
    usually write to folders of different names.
    """
    values = settings_by_key(config.model_dump(mode="json"))
    kept = {key: _without_folder(value) for key, value in values.items() if not key.startswith(_OF_A_MACHINE)}
    return {"ernie_pp": __version__, **kept}


def _without_folder(value: object) -> str:
    return PurePath(value).name if isinstance(value, str) and "/" in value else str(value)


@contextlib.contextmanager
def writer_first(world: World) -> Iterator[None]:
    """Rank 0 does the work of the block, then all others at once, which find what it has left on the disk."""
    if not world.is_writer:
        world.control.meet()
    yield
    if world.is_writer:
        world.control.meet()
