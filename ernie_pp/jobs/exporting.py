"""The part of `export` that comes after Paddle was started."""

from __future__ import annotations

from pathlib import Path

from ernie_pp.config import RunConfig
from ernie_pp.export.formats import Target
from ernie_pp.export.parity import describe
from ernie_pp.jobs.bundling import export_model
from ernie_pp.jobs.dev_figure import read_run_rows
from ernie_pp.jobs.trained import open_trained
from ernie_pp.training.run_folder import RunFolder


def export_best(config: RunConfig, folder: RunFolder, bundle: Path, target: Target) -> str:
    """Export best/ of a run; what is not exact by its nature is measured on the run's dev split."""
    calibration, dev = (), None
    if target != Target():
        rows = read_run_rows(config, open_trained(folder.best), cache=folder.cache)
        dev = rows.dev_figure()
        calibration = rows.calibration() if target.precision == "int8" else ()
    tolerance = config.export.tolerance
    parity = export_model(folder.best, bundle, tolerance=tolerance, target=target, calibration=calibration, dev=dev)
    return f"bundle: {bundle} ({describe(parity)})"
