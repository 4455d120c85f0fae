"""The main job: check the settings, set up the machine, then train, evaluate, report and export."""

from __future__ import annotations

from collections.abc import Sequence

from ernie_pp.config import RunConfig, check_config, load_config
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.run_log import open_run_log
from ernie_pp.jobs.start import start_paddle
from ernie_pp.training.run_folder import RunFolder


def run_training(path: str, overrides: Sequence[str], *, task: str | None = None) -> str:
    """Run one config to the end and return the summary for the screen."""
    config = load_config(path, overrides, task=task)
    check_config(config, source=path)
    if not config.output_dir.strip():
        raise ConfigError("output_dir", "is empty, expected the name of a folder", "Name one: output_dir=runs/first")
    folder = RunFolder(config.output_dir)
    folder.prepare(overwrite=config.overwrite, inputs=_inputs(config, path))
    with open_run_log(folder.text_log, hold=folder.has_results()) as log:
        setup = start_paddle(config.cpu)
        # Imports Paddle at its top, so it must come after the start.
        from ernie_pp.jobs.training_run import run

        return run(config, folder, setup, log=log)


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
