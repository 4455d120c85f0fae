"""States of small made-up models, and ranks that save them together, each in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ernie_pp.parallel.control import open_star
from ernie_pp.parallel.engine import EngineState
from ernie_pp.parallel.ports import free_port
from ernie_pp.parallel.topology import Grid
from ernie_pp.parallel.world import World
from ernie_pp.training.checkpoint.save import Checkpoints

ACCUMULATORS = ("moment1_0", "beta1_pow_acc_0")


def names_of(stage: int) -> list[str]:
    """Two parameters a stage."""
    return [f"stage{stage}.weight", f"stage{stage}.bias"]


def shapes_of(num_stages: int = 1) -> dict[str, tuple[int, ...]]:
    """Of the whole model."""
    return {name: (3, 2) for stage in range(num_stages) for name in names_of(stage)}


def state_of(stage: int = 0, *, value: float = 1.0, owned: list[str] | None = None) -> EngineState:
    """A stage's state, every element `value`; the optimizer's of the names `owned`, or of all."""
    owned = names_of(stage) if owned is None else owned
    weights = {name: np.full((3, 2), value, np.float32) for name in names_of(stage)}
    optimizer = {f"{name}.{suffix}": np.full((3, 2), value, np.float32) for name in owned for suffix in ACCUMULATORS}
    return EngineState(weights, optimizer, {"loss_scale": 2.0})


def changed(state: EngineState, part: str, name: str, array: np.ndarray) -> EngineState:
    """A state with another array at one name of its `weights` or `optimizer`."""
    return replace(state, **{part: {**getattr(state, part), name: array}})


def on_all_ranks(grid: Grid, work: Callable[[World], Any]) -> list[Any]:
    """What `work` gives on every rank; an error is given as a value."""
    address = f"127.0.0.1:{free_port('127.0.0.1')}"

    def one(rank: int) -> Any:
        world = World(grid, open_star(rank, grid.num_ranks, address=address, nonce="ours", limit_s=20))
        try:
            return work(world)
        except Exception as error:
            return error
        finally:
            world.control.close()

    with ThreadPoolExecutor(grid.num_ranks) as pool:
        return list(pool.map(one, range(grid.num_ranks)))


def checkpoints(root: Path, world: World | None = None, **changes: Any) -> Checkpoints:
    words: dict[str, Any] = {"world": world or World(), "keep": 10, "identity": {"config": "abc"}}
    return Checkpoints(root, **{**words, **changes})


def save_one(
    root: Path, step: int, *, state: EngineState | None = None, trainer: Mapping[str, object] | None = None
) -> bool:
    """Save by one process."""
    value = {"step": step} if trainer is None else trainer
    return checkpoints(root).save(step, state=state or state_of(value=step), trainer=value, best_step=None)


def file_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
