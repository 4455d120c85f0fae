"""The part of `export` that comes after Paddle was started."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ernie_pp.config import ExportConfig, RunConfig
from ernie_pp.durable import told_as_unwritable
from ernie_pp.errors import RunError
from ernie_pp.export.formats import Target
from ernie_pp.export.parity import describe
from ernie_pp.jobs.bundling import MeasuredBy, export_model
from ernie_pp.jobs.checkpoint_model import write_checkpoint_model
from ernie_pp.jobs.dev_figure import read_run_rows
from ernie_pp.jobs.plain_model import write_plain_model
from ernie_pp.jobs.trained import open_trained
from ernie_pp.training.run_folder import RunFolder


def export_best(config: RunConfig, run: RunFolder, bundle: Path, target: Target) -> str:
    """Export best/ of a run."""
    return _export(config, run, run.best, bundle, target)


def export_step(config: RunConfig, run: RunFolder, bundle: Path, target: Target, *, step: int) -> str:
    """Export a checkpoint of a run, whatever grid has written it."""
    with _scratch() as scratch:
        write_checkpoint_model(config, run, step, scratch / "model")
        return _export(config, run, scratch / "model", bundle, target)


def export_plain(model: Path, bundle: Path, target: Target, *, max_length: int, allow_pickle: bool) -> str:
    """Export a task model of PaddleNLP's; there are no rows of its own to measure what a lower precision costs."""
    if target.precision != "fp32":
        advice = "Export in fp32, or a run of ernie_pp's."
        raise RunError(f"--precision {target.precision}", "is measured on the dev rows of a run", advice)
    with _scratch() as scratch:
        write_plain_model(model, scratch / "model", max_length=max_length, allow_pickle=allow_pickle)
        parity = export_model(scratch / "model", bundle, tolerance=ExportConfig().tolerance, target=target)
    return f"bundle: {bundle} ({describe(parity)})"


def _export(config: RunConfig, run: RunFolder, model: Path, bundle: Path, target: Target) -> str:
    """What is not fp32 of Paddle Inference is measured on the run's dev split, read again."""
    rows = None
    if target != Target():
        read = read_run_rows(config, open_trained(model), cache=run.cache)
        calibration = read.calibration() if target.precision == "int8" else ()
        rows = MeasuredBy(calibration, read.dev_figure(), read.shapes())
    parity = export_model(model, bundle, tolerance=config.export.tolerance, target=target, rows=rows)
    return f"bundle: {bundle} ({describe(parity)})"


@contextmanager
def _scratch() -> Iterator[Path]:
    with told_as_unwritable("the system's folder for temporary files (TMPDIR)"), tempfile.TemporaryDirectory() as name:
        yield Path(name)
