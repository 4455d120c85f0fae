"""Arrays by canonical names, from the ranks that hold them to rank 0 and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from safetensors.numpy import load, save

from ernie_pp.parallel.world import World


def gather_arrays(arrays: Mapping[str, np.ndarray], world: World) -> dict[str, np.ndarray]:
    """The arrays of all stages on rank 0, in the order of the stages; an empty dict on the others.

    The replicas of a stage may hold different arrays; one they share is taken from the first.
    """
    if world.grid.num_ranks == 1:
        return dict(arrays)
    gathered = world.control.gather(_pack(arrays))
    ranks = [rank for stage in range(world.grid.stages) for rank in world.grid.ranks_of_stage(stage)]
    merged: dict[str, np.ndarray] = {}
    for rank in ranks if gathered else []:
        for name, array in load(gathered[rank]).items():
            merged.setdefault(name, array)
    return merged


def scatter_arrays(
    arrays: Mapping[str, np.ndarray], world: World, *, is_wanted: Callable[[str], bool]
) -> dict[str, np.ndarray]:
    """Of the arrays that rank 0 gives those whose names are wanted here; one process is given all."""
    if world.grid.num_ranks == 1:
        return dict(arrays)
    arrays = load(world.control.broadcast(_pack(arrays) if world.is_writer else b""))
    return {name: array for name, array in arrays.items() if is_wanted(name)}


def _pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
