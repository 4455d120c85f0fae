"""Saving the whole state of a run, and going on from it."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from ernie_pp.config import RunConfig
from ernie_pp.errors import RunError
from ernie_pp.jobs.fingerprint import check_same_data, fingerprint
from ernie_pp.jobs.model import Model
from ernie_pp.jobs.prepare import Prepared
from ernie_pp.models.ernie import model_settings
from ernie_pp.parallel.beats import Phase
from ernie_pp.parallel.engine import EngineState
from ernie_pp.parallel.step import StepEngine
from ernie_pp.parallel.world import World
from ernie_pp.training.checkpoint.save import Checkpoints
from ernie_pp.training.checkpoint.saved import Checkpoint, open_checkpoint
from ernie_pp.training.loop_state import LoopState
from ernie_pp.training.run_folder import RunFolder

LOG = logging.getLogger("ernie_pp")
_LOOP = "loop"
Shapes = Mapping[str, tuple[int, ...]]


class Saver:
    """Makes the checkpoints of one run; every rank makes the same calls."""

    def __init__(
        self, config: RunConfig, *, identity: Mapping[str, object], engine: StepEngine, folder: RunFolder, world: World
    ) -> None:
        """`identity` is what `identify` gives."""
        self.config, self.engine, self.world = config, engine, world
        self.is_first = True
        self.checkpoints = Checkpoints(
            folder.checkpoints,
            world=world,
            keep=config.checkpoint.keep,
            identity=identity,
            is_sharded=config.parallel.shard_optimizer,
        )

    def save(self, loop: LoopState) -> bool:
        """A checkpoint of this place; False where there is no room for it, and the second time in a row RunError."""
        start = time.monotonic()
        self.world.beats.begin(Phase.SAVE)
        trainer = {_LOOP: loop.model_dump(mode="json")}
        best_step = None if loop.best is None else loop.best.step
        is_saved = self.checkpoints.save(loop.step, state=self.engine.state(), trainer=trainer, best_step=best_step)
        seconds = time.monotonic() - start
        if is_saved:
            LOG.info("step %d: checkpoint saved in %.1f s", loop.step, seconds)
        self.world.beats.begin(Phase.TRAIN)
        self._look_at_time(seconds)
        return is_saved

    def _look_at_time(self, seconds: float) -> None:
        is_limited = self.world.launcher == "ours" and self.world.is_writer
        if self.is_first and is_limited and seconds > self.config.stop.grace_s / 2:
            LOG.warning(
                "a checkpoint takes %.0f s, and a stopped run is killed after stop.grace_s %g: raise it",
                seconds,
                self.config.stop.grace_s,
            )
        self.is_first = False


def identify(
    config: RunConfig, prepared: Prepared, model: Model, *, start: Checkpoint | None, folder: RunFolder
) -> dict[str, object]:
    """What says which run a checkpoint is of; `start` is the one that the run goes on from."""
    return {
        "config": config.model_dump(mode="json"),
        "data": fingerprint(prepared),
        "model": model_settings(model.stack),
        "origin": None if start is None else origin_of(start, folder),
    }


def origin_of(start: Checkpoint, folder: RunFolder) -> object:
    """Where the run's first checkpoint came from, if it was not its own: the folder of another run's checkpoints."""
    root = start.folder.resolve().parent
    return start.manifest.run.get("origin") if root == folder.checkpoints.resolve() else str(root)


def share_start(found: Checkpoint | None, world: World) -> Checkpoint | None:
    """The checkpoint that rank 0 has found, on every rank; RunError where a rank sees another one there."""
    told = {} if found is None else {"folder": str(found.folder.absolute()), "digest": found.digest}
    told = json.loads(world.control.broadcast(json.dumps(told).encode()))
    if not told or found is not None:
        return found
    seen = open_checkpoint(Path(told["folder"]), verify=False)
    if seen.digest != told["digest"]:
        what = "is another checkpoint on this machine than on rank 0's"
        raise RunError(str(seen.folder), what, "Put output_dir on a disk that all machines see.")
    return seen


def check_fits(found: Checkpoint, prepared: Prepared, model: Model) -> None:
    """DataError or RunError where rows or model are not the checkpoint's."""
    check_same_data(found, prepared)
    found.check_names(model.shapes)
    saved, now = found.manifest.run.get("model"), model_settings(model.stack)
    if not isinstance(saved, Mapping):
        raise RunError(str(found.folder), "does not say the config of its model", "Give a checkpoint of ernie_pp.")
    changed = [name for name, value in now.items() if value != saved.get(name)]
    if changed:
        lines = (f"{name}: {saved.get(name)!r} there, {now[name]!r} now" for name in changed)
        what = "\n".join(["is of a model with another config.json:", *lines])
        raise RunError(str(found.folder), what, "Go on with the model that the run was started with, or begin anew.")


def read_loop(found: Checkpoint) -> LoopState:
    """Where the loop stood when the checkpoint was made."""
    with _told_as_damaged(found):
        loop = LoopState.model_validate_json(json.dumps(found.trainer()[_LOOP]))
        if loop.step != found.manifest.step:
            raise ValueError(f"its loop is at step {loop.step}, its manifest at {found.manifest.step}")
        return loop


def restore(found: Checkpoint, engine: StepEngine) -> None:
    """Put the engine where the checkpoint was made."""
    with _told_as_damaged(found):
        scalars = {name: float(value) for name, value in found.scalars().items()}
        weights, optimizer = found.read_weights(engine.shapes()), found.read_optimizer(engine.owned)
        odd = next((name for name, array in weights.items() if array.dtype != np.float32), None)
        if odd is not None:
            raise ValueError(f"tensor {odd} is of type {weights[odd].dtype}, expected float32")
        engine.load_state(EngineState(weights, optimizer, scalars))


@contextlib.contextmanager
def _told_as_damaged(found: Checkpoint) -> Iterator[None]:
    try:
        yield
    except (ValidationError, KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"does not say where its run stood: {error}"
        raise RunError(str(found.folder), what, "Go on from another checkpoint.") from error
