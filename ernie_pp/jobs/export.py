"""Exporting a run's best model, one of its checkpoints, or a task model of PaddleNLP's."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.choices import BundleFormat, Precision
from ernie_pp.config import CpuConfig, load_config
from ernie_pp.durable import told_as_unwritable
from ernie_pp.errors import ConfigError, RunError
from ernie_pp.export.bundle import MANIFEST
from ernie_pp.export.formats import Target, check_format
from ernie_pp.jobs.start import start_paddle
from ernie_pp.training.run_folder import RunFolder


@dataclass(frozen=True)
class ExportOptions:
    """The words of `ernie-pp export`: `run_dir`, with a `step` or not, or `model`, which needs `max_length`."""

    run_dir: str | None = None
    model: str | None = None
    step: int | None = None
    max_length: int | None = None
    allow_pickle: bool = False
    output: str | None = None
    format: BundleFormat = "inference"
    precision: Precision = "fp32"


def export(options: ExportOptions) -> str:
    """Write a checked bundle; returns the summary for the screen."""
    check_format(options.format, options.precision)
    _check_words(options)
    return _export_run(options, options.run_dir) if options.run_dir is not None else _export_plain(options)


def _check_words(options: ExportOptions) -> None:
    if (options.run_dir is None) == (options.model is None):
        raise ConfigError("--run and --model", "one of them is needed", "Give a run folder or a model folder.")
    without_effect = {
        "--step": options.step is not None and options.model is not None,
        "--max-length": options.max_length is not None and options.run_dir is not None,
        "--allow-pickle": options.allow_pickle and options.run_dir is not None,
    }
    for word, is_given in without_effect.items():
        if is_given:
            other = "--model" if options.model is not None else "--run"
            raise ConfigError(word, f"has no effect beside {other}", "Leave it out.")
    missing = [f"--{name.replace('_', '-')}" for name in ("max_length", "output") if getattr(options, name) is None]
    if options.model is not None and missing:
        raise ConfigError(" and ".join(missing), "missing beside --model", "A model folder does not say it.")


def _export_run(options: ExportOptions, run_dir: str) -> str:
    """Best model or a checkpoint, as its config says; what is not plain is measured on the dev split too."""
    target, folder = Target(options.format, options.precision), RunFolder(run_dir)
    folder.check_is_run()
    config = load_config(folder.config)
    bundle = _place_of(target, folder, options.step) if options.output is None else Path(options.output)
    if options.output is not None:
        with told_as_unwritable(bundle):
            _check_replaceable(bundle, folder)
    start_paddle(config.cpu)
    # Imports Paddle at its top, so it must come after the start.
    from ernie_pp.jobs.exporting import export_best, export_step

    if options.step is None:
        return export_best(config, folder, bundle, target)
    return export_step(config, folder, bundle, target, step=options.step)


def _export_plain(options: ExportOptions) -> str:
    assert options.model is not None and options.output is not None and options.max_length is not None, "checked"
    bundle = Path(options.output)
    with told_as_unwritable(bundle):
        _check_replaceable(bundle, None)
    start_paddle(CpuConfig())
    from ernie_pp.jobs.exporting import export_plain

    target = Target(options.format, options.precision)
    how = {"max_length": options.max_length, "allow_pickle": options.allow_pickle}
    return export_plain(Path(options.model), bundle, target, **how)


def _place_of(target: Target, folder: RunFolder, step: int | None) -> Path:
    if target == Target() and step is None:
        return folder.bundle
    of_step = "" if step is None else f"-step-{step}"
    return folder.bundles / f"{target.format}-{target.precision}{of_step}"


def _check_replaceable(bundle: Path, run: RunFolder | None) -> None:
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


def _is_same(one: RunFolder, other: RunFolder | None) -> bool:
    return other is not None and os.path.samefile(one.root, other.root)
