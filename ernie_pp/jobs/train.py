"""The main job: train, evaluate, keep the best, measure it, write the report, export the bundle."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ernie_pp.config import RunConfig, check_config, dump_config, load_config
from ernie_pp.data.faults import Faults
from ernie_pp.errors import ConfigError
from ernie_pp.machine import CpuSetup, set_up_cpu
from ernie_pp.training.run_folder import RunFolder, write_text

LOG = logging.getLogger("ernie_pp")


def run_training(path: str, overrides: Sequence[str], *, task: str | None = None) -> str:
    """Run one config to the end and return the summary for the screen."""
    config = load_config(path, overrides, task=task)
    check_config(config, source=path)
    folder = RunFolder(config.output_dir)
    folder.prepare(overwrite=config.overwrite)
    with _log_file(folder.text_log):
        write_text(folder.config, dump_config(config))
        setup = set_up_cpu(math=config.cpu.math, keep_heap=config.cpu.keep_heap, threads=config.cpu.threads)
        LOG.info("%s", setup)
        for problem in setup.problems:
            LOG.warning("%s", problem)
        # Loads Paddle, so it must come after the CPU switches.
        from ernie_pp.jobs.training_run import TrainingRun

        return TrainingRun(config, folder, setup).run()
