"""The main job: check the settings, set up the machine, then train, evaluate, report and export."""

from __future__ import annotations

import contextlib
import fcntl
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from ernie_pp.config import check_config, load_config
from ernie_pp.errors import RunError
from ernie_pp.jobs.start import start_paddle
from ernie_pp.training.run_folder import RunFolder

LOG = logging.getLogger("ernie_pp")


def run_training(path: str, overrides: Sequence[str], *, task: str | None = None) -> str:
    """Run one config to the end and return the summary for the screen."""
    config = load_config(path, overrides, task=task)
    check_config(config, source=path)
    folder = RunFolder(config.output_dir)
    folder.prepare(overwrite=config.overwrite)
    with _log_file(folder.text_log):
        setup = start_paddle(config.cpu)
        # Imports Paddle at its top, so it must come after the start.
        from ernie_pp.jobs.training_run import run

        return run(config, folder, setup)


@contextlib.contextmanager
def _log_file(path: Path) -> Iterator[None]:
    """Everything said on the screen also stands in run.log; RunError where another run is writing there."""
    with open(path, "a", encoding="utf-8") as file:
        _lock(file, path)
        file.truncate(0)
        handler = logging.StreamHandler(file)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        LOG.addHandler(handler)
        try:
            yield
        finally:
            LOG.removeHandler(handler)


def _lock(file: TextIO, path: Path) -> None:
    """Hold the run folder until the file is closed, or this process has ended in whatever way."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        what = "another run is training in this folder"
        raise RunError(str(path.parent), what, "Choose another output_dir, or wait for its end.") from error
    except OSError:
        LOG.debug("%s: this file system has no locks", path)
