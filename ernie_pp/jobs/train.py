"""The main job: check the settings, set up the machine, then train, evaluate, report and export."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from ernie_pp.config import RunConfig, check_config, load_config
from ernie_pp.config.schema import RESUME_WORDS, StopConfig
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.auto_grid import resolve_parallel
from ernie_pp.jobs.before_ranks import check_before_ranks
from ernie_pp.jobs.data_files import named_sources
from ernie_pp.jobs.ranks import grid_of, launch_ranks
from ernie_pp.jobs.run_log import check_unlocked, open_run_log
from ernie_pp.jobs.start import start_paddle
from ernie_pp.jobs.start_point import find_start, is_done, is_own, may_begin_again
from ernie_pp.jobs.writer import Writer
from ernie_pp.parallel.place import Place, check_grid, find_place
from ernie_pp.training.checkpoint.saved import Checkpoint
from ernie_pp.training.run_folder import RunFolder

LOG = logging.getLogger("ernie_pp")


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
    if place.is_writer and grid.num_ranks == 1 and config.stop != StopConfig():
        LOG.warning("stop.grace_s and stop.stall_s have no effect: they are about many processes, and there is one")
    check_grid(place, stages=grid.stages, replicas=grid.replicas)
    folder, start = RunFolder(config.output_dir), None
    # Ranks of ours come when the folder is ready; only one of the others may look: results may stand there soon.
    if place.kind != "ours" and is_done(config, folder):
        said = f"the run in {folder.root} is finished, with these settings; overwrite=true trains it again"
        return said if place.is_writer else ""
    if place.is_writer:
        check_unlocked(folder.text_log)
        start = find_start(config, folder, is_settled=place.kind == "ours")
        if place.kind != "ours":
            _prepare(config, folder, start, inputs=_inputs(config, path))
    if place.kind == "alone" and grid.num_ranks > 1:
        check_before_ranks(config)
        launch_ranks(_settled(config, start), folder, grid, quiet=quiet)
        return ""
    return _run_here(config, folder, place, start)


def _prepare(config: RunConfig, folder: RunFolder, start: Checkpoint | None, *, inputs: Mapping[str, str]) -> None:
    """Make the folder, or see that the one there may be gone on with or replaced."""
    if start is not None and is_own(start, folder):
        folder.make()
        return
    folder.prepare(overwrite=config.overwrite or may_begin_again(config, folder), inputs=inputs)


def _settled(config: RunConfig, start: Checkpoint | None) -> RunConfig:
    """The settings for processes of ours, to which it must be clear where the run starts."""
    return config.model_copy(update={"resume": "never" if start is None else str(start.folder.absolute())})


def _run_here(config: RunConfig, folder: RunFolder, place: Place, start: Checkpoint | None) -> str:
    """The run's work, or this rank's share of it."""
    log_file = open_run_log(folder.text_log, hold=folder.has_results()) if place.is_writer else nullcontext()
    with log_file as log:
        setup = start_paddle(config.cpu)
        # Imports Paddle at its top, so it must come after the start.
        from ernie_pp.jobs.training_run import run

        writer = None if log is None else Writer(log, start)
        try:
            return run(config, folder, setup, place=place, writer=writer)
        except Exception as error:
            if log is not None:
                log.note(f"{type(error).__name__}: {error}")
            raise


def _inputs(config: RunConfig, path: str) -> dict[str, str]:
    """Every file and folder the run reads, by the key that names it."""
    model = config.model
    named = {
        "--config": path,
        **_data_inputs(config),
        "model.path": model.path,
        "model.sizes.vocab": model.sizes.vocab if model.sizes is not None else None,
        "data.cache_dir": config.data.cache_dir,
        "resume": config.resume if config.resume not in RESUME_WORDS else None,
    }
    return {name: str(value) for name, value in named.items() if value is not None}


def _data_inputs(config: RunConfig) -> dict[str, str]:
    named = {}
    for name, (sources, _) in named_sources(config.data).items():
        several = len(sources) > 1
        named |= {f"data.{name}[{index}]" if several else f"data.{name}": one for index, one in enumerate(sources)}
    return named
