"""Exporting a run's best model."""

from __future__ import annotations

from pathlib import Path

from ernie_pp.config import load_config
from ernie_pp.errors import RunError
from ernie_pp.export.bundle import MANIFEST
from ernie_pp.jobs.start import start_paddle
from ernie_pp.training.run_folder import RunFolder


def export_run(run_dir: str, *, output: str | None = None) -> str:
    """Export best/ of a run folder as its config says; returns the summary for the screen."""
    folder = RunFolder(run_dir)
    folder.check_is_run()
    config = load_config(folder.config)
    bundle = folder.bundle if output is None else Path(output)
    if output is not None and bundle.exists() and not (bundle / MANIFEST).is_file():
        raise RunError(str(bundle), "exists and is not a bundle; it would be replaced", "Choose another --output.")
    start_paddle(config.cpu)
    # Imports Paddle at its top, so it must come after the start.
    from ernie_pp.jobs.bundling import describe_parity, export_model

    parity = export_model(folder.best, bundle, tolerance=config.export.tolerance)
    return f"bundle: {bundle} ({describe_parity(parity)})"
