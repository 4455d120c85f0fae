"""Putting a run where its checkpoint was made: the engine, and best/ as it was then."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ernie_pp.errors import ErniePPError
from ernie_pp.jobs.checkpoints import Shapes, read_loop, restore
from ernie_pp.jobs.trained import open_trained
from ernie_pp.models.ernie import load_stack
from ernie_pp.parallel.step import StepEngine
from ernie_pp.parallel.world import World
from ernie_pp.training.checkpoint.choose import list_steps
from ernie_pp.training.checkpoint.saved import Checkpoint, open_checkpoint
from ernie_pp.training.loop_state import BestSoFar, LoopState
from ernie_pp.training.model_folder import read_settings
from ernie_pp.training.run_folder import RunFolder

LOG = logging.getLogger("ernie_pp")
_THERE = b"there"


class Training(Protocol):
    """What is put back: `measure` evaluates the engine's present model, `keep` saves it in best/."""

    @property
    def engine(self) -> StepEngine: ...
    @property
    def folder(self) -> RunFolder: ...
    @property
    def world(self) -> World: ...
    @property
    def shapes(self) -> Shapes: ...
    def measure(self, step: int) -> Any: ...
    def keep(self, best: Any) -> bool: ...


def go_on(training: Training, start: Checkpoint) -> LoopState:
    """Where the checkpoint's run stood; every rank calls it, and best/ holds the best model up to there afterwards."""
    loop = read_loop(start)
    if loop.best is not None and not _bring_back(training, loop.best, start):
        LOG.warning("the best model, of step %d, is gone: the best is looked for anew from here", loop.best.step)
        loop = loop.model_copy(update={"best": None, "num_worse": 0})
    restore(start, training.engine)
    LOG.info("resumed from %s: %d steps are done", start.folder, loop.step)
    return loop


def _bring_back(training: Training, best: BestSoFar, start: Checkpoint) -> bool:
    """Whether best/ holds the model of `best`, made again from its checkpoint where it does not."""
    is_writer = training.world.is_writer
    said = training.world.control.broadcast(_where_is(training.folder.best, best, start) if is_writer else b"")
    if said in (b"", _THERE):
        return said == _THERE
    source = open_checkpoint(Path(said.decode()), verify=False)
    training.engine.load_weights(source.read_weights(training.shapes) if is_writer else {})
    return training.keep(training.measure(best.step))


def _where_is(folder: Path, best: BestSoFar, start: Checkpoint) -> bytes:
    """That the best model stands in best/, or else the checkpoint that it can be made from; nothing: it is gone."""
    source = start if start.manifest.step == best.step else _find_checkpoint(best.step, start.folder.parent)
    with contextlib.suppress(ErniePPError):
        # A killed run may have found a better one after its last checkpoint.
        if read_settings(folder)["step"] == best.step and (source is None or _has_weights(folder, source)):
            return _THERE
    return b"" if source is None else str(source.folder).encode()


def _find_checkpoint(step: int, root: Path) -> Checkpoint | None:
    for number, path in list_steps(root):
        if number == step:
            try:
                return open_checkpoint(path)
            except ErniePPError as error:
                LOG.warning("%s", error)
    return None


def _has_weights(folder: Path, source: Checkpoint) -> bool:
    """Whether a model folder, which has no hashes, holds the weights of the checkpoint, which has."""
    stack = load_stack(folder, open_trained(folder).head)
    found, expected = stack.state(), source.read_weights({name: w.shape for name, w in stack.state().items()})
    return all(np.array_equal(found[name], value) for name, value in expected.items())
