"""The main job: check the settings, set up the machine, then train, evaluate, report and export."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext

from ernie_pp.config import RunConfig, check_config, load_config
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.auto_grid import resolve_parallel
from ernie_pp.jobs.before_ranks import check_before_ranks
from ernie_pp.jobs.ranks import grid_of, launch_ranks
from ernie_pp.jobs.run_log import open_run_log
from ernie_pp.jobs.start import start_paddle
from ernie_pp.parallel.place import Place, check_grid, find_place
from ernie_pp.training.run_folder import RunFolder


def run_training(path: str, overrides: Sequence[str], *, task: str | None = None, quiet: bool = False) -> str:
    """Run one config to the end and return the summary for the screen.

    A grid of more than one process is started here, unless this process is one of them; the summary is then empty
    but for rank 0. `quiet` is for the processes that are started.
    """
    place = find_place(os.environ)
    config = load_config(path, overrides, task=task)
    check_config(config, source=path)
    if not config.output_dir.strip():
        raise ConfigError("output_dir", "is empty, expected the name of a folder", "Name one: output_dir=runs/first")
    config = resolve_parallel(config, num_devices=place.num_ranks if place.kind == "paddle" else None)
    grid = grid_of(config.parallel)
    check_grid(place, stages=grid.stages, replicas=grid.replicas)
    folder = RunFolder(config.output_dir)
    # Ranks of ours come when the folder is ready; only one of the others may look: results may stand there soon.
    if place.kind != "ours" and place.is_writer:
        folder.prepare(overwrite=config.overwrite, inputs=_inputs(config, path))
    if place.kind == "alone" and grid.num_ranks > 1:
        check_before_ranks(config)
        launch_ranks(config, folder, grid, quiet=quiet)
        return ""
    return _run_here(config, folder, place)


def _run_here(config: RunConfig, folder: RunFolder, place: Place) -> str:
    """The run's work, or this rank's share of it."""
    log_file = open_run_log(folder.text_log, hold=folder.has_results()) if place.is_writer else nullcontext()
    with log_file as log:
        setup = start_paddle(config.cpu)
        # Imports Paddle at its top, so it must come after the start.
        from ernie_pp.jobs.training_run import run

        return run(config, folder, setup, place=place, log=log)


def _inputs(config: RunConfig, path: str) -> dict[str, str]:
    """Every file and folder the run reads, by the key that names it."""
    data, model = config.data, config.model
    named = {
        "--config": path,
        "data.train": data.train,
        "data.dev": data.dev,
        "data.test": data.test,
        "model.path": model.path,
        "model.sizes.vocab": model.sizes.vocab if model.sizes is not None else None,
        "data.cache_dir": data.cache_dir,
    }
    return {name: str(value) for name, value in named.items() if value is not None}
