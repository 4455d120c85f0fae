"""Starting the processes of a run whose grid has more than one."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from ernie_pp.config import ParallelConfig, RunConfig, dump_config
from ernie_pp.durable import told_as_unwritable, write_text
from ernie_pp.jobs.answers import helper_command
from ernie_pp.jobs.figures import say_count
from ernie_pp.jobs.run_log import check_unlocked, lock_run
from ernie_pp.machine import threads_per_process
from ernie_pp.parallel.launcher.launch import launch
from ernie_pp.parallel.launcher.rank_processes import Launch
from ernie_pp.parallel.topology import Grid
from ernie_pp.training.run_folder import RunFolder

LOG = logging.getLogger("ernie_pp")
# In the run folder: the ranks' settings and logs, and the word that a failed one leaves.
RANKS = "ranks"


def grid_of(parallel: ParallelConfig) -> Grid:
    """The grid that the settings ask for."""
    return Grid(parallel.stages, parallel.replicas, parallel.rank_order)


def launch_ranks(config: RunConfig, folder: RunFolder, grid: Grid, *, quiet: bool) -> None:
    """Run the whole job in `grid.num_ranks` processes; what one of them fails with is raised as RanksFailed."""
    check_unlocked(folder.text_log)
    ranks = folder.root / RANKS
    with told_as_unwritable(ranks):
        ranks.mkdir(mode=0o700, exist_ok=True)
        ranks.chmod(0o700)  # the logs may quote the user's rows
    with _held(ranks):
        settings = ranks / "config.yaml"
        # All ranks read the same, whatever happens to the user's file meanwhile.
        write_text(settings, dump_config(config))
        threads = threads_per_process(grid.num_ranks, wanted=config.cpu.threads)
        LOG.info(
            "%s x %s: %d processes, %s each",
            say_count(grid.stages, "stage"),
            say_count(grid.replicas, "replica"),
            grid.num_ranks,
            say_count(threads, "thread"),
        )
        words = ["train", *(["--quiet"] if quiet else []), "--config", str(settings)]
        limits = {"grace_s": config.stop.grace_s, "stall_s": config.stop.stall_s}
        launch(Launch(helper_command("ernie_pp.cli", *words), grid, ranks, threads=threads, **limits))


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep another run out of the folder until the block ends, or this process does in whatever way."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        lock_run(descriptor, folder.parent)
        yield
    finally:
        os.close(descriptor)
