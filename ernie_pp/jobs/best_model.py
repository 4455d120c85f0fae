"""The best model of a run that goes on: in best/, or made again from its checkpoint."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path

from ernie_pp.errors import ErniePPError
from ernie_pp.training.checkpoint.choose import list_steps
from ernie_pp.training.checkpoint.saved import Checkpoint, open_checkpoint
from ernie_pp.training.loop_state import BestSoFar
from ernie_pp.training.model_folder import read_settings

LOG = logging.getLogger("ernie_pp")


def stands_in(best: Path, found: BestSoFar) -> bool:
    """Whether best/ holds the model of that evaluation: a killed run may have gone further than its checkpoint."""
    with contextlib.suppress(ErniePPError):
        return read_settings(best)["step"] == found.step
    return False


def find_checkpoint(best: BestSoFar, beside: Checkpoint) -> Checkpoint | None:
    """The checkpoint of the best step among those beside the one that the run goes on from."""
    if beside.manifest.step == best.step:
        return beside
    for step, path in list_steps(beside.folder.parent):
        if step == best.step:
            try:
                return open_checkpoint(path)
            except ErniePPError as error:
                LOG.warning("%s", error)
    return None
