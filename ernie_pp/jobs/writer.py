"""The one process of a run that writes its folder."""

from __future__ import annotations

from dataclasses import dataclass

from ernie_pp.jobs.run_log import RunLog
from ernie_pp.training.checkpoint.saved import Checkpoint


@dataclass(frozen=True)
class Writer:
    """What only rank 0 has: the open run.log, and the checkpoint that the run goes on from."""

    log: RunLog
    start: Checkpoint | None = None
