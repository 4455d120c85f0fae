"""Exporting a run's best model, or one of its checkpoints."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.choices import BundleFormat, Precision
from ernie_pp.config import load_config
from ernie_pp.durable import told_as_unwritable
from ernie_pp.errors import RunError
from ernie_pp.export.bundle import MANIFEST
from ernie_pp.export.formats import Target, check_format
from ernie_pp.jobs.start import start_paddle
from ernie_pp.training.run_folder import RunFolder


@dataclass(frozen=True)
class ExportOptions:
    """The words of `ernie-pp export`."""

    run_dir: str
    output: str | None = None
    format: BundleFormat = "inference"
    precision: Precision = "fp32"


def export_run(options: ExportOptions) -> str:
    """Export best/ of a run folder as its config says; returns the summary for the screen.

    What is not fp32 for Paddle Inference is measured on the dev split too, which is read again.
    """
    target = Target(options.format, options.precision)
    check_format(target.format, target.precision)
    folder = RunFolder(options.run_dir)
    folder.check_is_run()
    config = load_config(folder.config)
    bundle = _place_of(target, folder) if options.output is None else Path(options.output)
    if options.output is not None:
        with told_as_unwritable(bundle):
            _check_replaceable(bundle, folder)
    start_paddle(config.cpu)
    # Imports Paddle at its top, so it must come after the start.
    from ernie_pp.jobs.exporting import export_best

    return export_best(config, folder, bundle, target)


def _place_of(target: Target, folder: RunFolder) -> Path:
    if target == Target():
        return folder.bundle
    return folder.bundles / f"{target.format}-{target.precision}"


def _check_replaceable(bundle: Path, run: RunFolder) -> None:
    """RunError where something else than a bundle of nobody's or of this run would be replaced."""
    # A link is looked through: the folder it names would be replaced.
    place = Path(os.path.realpath(bundle))
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return
    if not (place / MANIFEST).is_file():
        raise RunError(str(bundle), "exists and is not a bundle; it would be replaced", "Choose another --output.")
    for other in map(RunFolder, (place.parent, place.parent.parent)):
        if place in (other.bundle, other.bundles / place.name) and other.is_run() and not _is_same(other, run):
            what = f"is the bundle of another run, {other.root}; it would be replaced"
            raise RunError(str(bundle), what, "Choose another --output, or remove it yourself.")


def _is_same(one: RunFolder, other: RunFolder) -> bool:
    return os.path.samefile(one.root, other.root)
