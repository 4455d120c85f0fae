"""Exporting a run's best model."""

from __future__ import annotations

import os
from pathlib import Path

from ernie_pp.config import load_config
from ernie_pp.durable import told_as_unwritable
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
    if output is not None:
        with told_as_unwritable(bundle):
            _check_replaceable(bundle, folder)
    start_paddle(config.cpu)
    # Imports Paddle at its top, so it must come after the start.
    from ernie_pp.jobs.bundling import describe_parity, export_model

    parity = export_model(folder.best, bundle, tolerance=config.export.tolerance)
    return f"bundle: {bundle} ({describe_parity(parity)})"


def _check_replaceable(bundle: Path, run: RunFolder) -> None:
    """RunError where something else than a bundle of nobody's or of this run would be replaced."""
    # A link is looked through: the folder it names would be replaced.
    place = Path(os.path.realpath(bundle))
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return
    if not (place / MANIFEST).is_file():
        raise RunError(str(bundle), "exists and is not a bundle; it would be replaced", "Choose another --output.")
    other = RunFolder(place.parent)
    if other.bundle == place and other.is_run() and not os.path.samefile(other.root, run.root):
        what = f"is the bundle of another run, {other.root}; it would be replaced"
        raise RunError(str(bundle), what, "Choose another --output, or remove it yourself.")
