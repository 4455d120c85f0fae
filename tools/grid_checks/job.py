"""A training job on made-up rows: what every rank of it is told, and how its ranks are started."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ernie_pp.machine import threads_per_process
from ernie_pp.parallel.launcher.launch import Launch, launch
from ernie_pp.parallel.topology import Grid

RANK = Path(__file__).with_name("rank.py")


@dataclass(frozen=True)
class Job:
    """An ERNIE of random weights on `micro_batches` a step (over all replicas) of `rows` x `length` tokens."""

    stages: int = 1
    replicas: int = 1
    num_layers: int = 4
    width: int = 384
    vocab_size: int = 8000
    num_labels: int = 3
    rows: int = 2
    length: int = 256
    micro_batches: int = 16
    num_steps: int = 5
    boundaries: tuple[int, ...] | None = None
    recomputed: tuple[int, ...] = ()  # layers
    virtual_stages: int = 1
    dropout: float = 0.0
    uneven: bool = False  # lengths differ from row to row and micro-batch to micro-batch
    late_s: float = 0.0  # how much longer stage 0 takes for the first micro-batch of the last step
    fails_at: int | None = None  # step in which the last rank raises
    keeps_weights: bool = False
    keeps_heap: bool = True  # cpu.keep_heap

    def with_cut(self, *boundaries: int) -> Job:
        """The same job with these boundaries."""
        return replace(self, boundaries=boundaries)


@dataclass(frozen=True)
class Result:
    """What the ranks got.

    `loaded_bytes` are those of each rank before it has a model, `growth_bytes` what came on top at the peak.
    """

    losses: list[float]
    step_s: list[float]
    loaded_bytes: list[int]
    growth_bytes: list[int]
    arrays: dict[str, np.ndarray]

    @property
    def median_s(self) -> float:
        """Of the steps after the first, which warms up."""
        return float(np.median(self.step_s[1:]))


def run(job: Job, *, threads: int | None = None) -> Result:
    """Run the job in processes of its own; `threads` of each (one a core shared among them if not given)."""
    with tempfile.TemporaryDirectory(prefix="check_grid-") as folder:
        return run_in(Path(folder), job, threads=threads)


def run_in(folder: Path, job: Job, *, threads: int | None = None) -> Result:
    """As `run`, in a folder in which the words of failed ranks stay; its name is in every rank's command."""
    path, grid = folder / "job.json", Grid(job.stages, job.replicas)
    path.write_text(json.dumps(asdict(job)), encoding="utf-8")
    own = threads or threads_per_process(grid.num_ranks, wanted=None)
    launch(Launch([sys.executable, str(RANK), str(path)], grid, folder, threads=own))
    answer: dict[str, Any] = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    arrays = folder / "arrays.npz"
    return Result(**answer, arrays=dict(np.load(arrays)) if arrays.is_file() else {})
