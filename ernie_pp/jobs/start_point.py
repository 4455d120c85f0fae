"""From where a run starts: the checkpoint it goes on from, or its beginning."""

from __future__ import annotations

import logging
from pathlib import Path

from ernie_pp.config import RunConfig
from ernie_pp.config.resume_rules import changed_settings
from ernie_pp.errors import ConfigError, RunError
from ernie_pp.jobs.figures import say_count
from ernie_pp.training.checkpoint.choose import Refusal, choose_newest, list_steps
from ernie_pp.training.checkpoint.names import MANIFEST
from ernie_pp.training.checkpoint.saved import Checkpoint, open_checkpoint
from ernie_pp.training.run_folder import RunFolder

LOG = logging.getLogger("ernie_pp")
_ANEW = "To start anew set resume=never overwrite=true, which removes them, or choose another output_dir."


def find_start(config: RunConfig, folder: RunFolder, *, is_settled: bool) -> Checkpoint | None:
    """The checkpoint that `resume` asks for, with settings that fit; None: the run starts from its beginning.

    `is_settled`: the process that started this one has chosen, and `resume` names it or says never.
    """
    if config.resume == "never" or (config.resume == "auto" and config.overwrite):
        return None
    if is_settled:
        return _opened(Path(config.resume))
    found = _newest(config, folder) if config.resume in ("auto", "must") else _named(config, folder)
    if found is not None:
        check_settings(found, config)
    return found


def check_settings(found: Checkpoint, config: RunConfig) -> None:
    """ConfigError that lists every setting by which this would be another run."""
    saved = found.manifest.run.get("config")
    if not isinstance(saved, dict):
        raise ConfigError(str(found.folder), "does not say the settings of its run", "Give a checkpoint of ernie_pp.")
    changed = changed_settings(saved, config)
    if changed:
        what = "\n".join([f"is of a run with other settings ({len(changed)}):", *changed])
        do = f"Set them as they were to go on. {_ANEW}"
        raise ConfigError(str(found.folder), what, do)


def _newest(config: RunConfig, folder: RunFolder) -> Checkpoint | None:
    is_must = config.resume == "must"
    if folder.is_finished(with_bundle=config.export.enabled):
        if is_must:
            what = f"is must, and the run in {folder.root} has come to its end"
            raise ConfigError("resume", what, "Choose another output_dir.")
        return None
    choice = choose_newest(folder.checkpoints)
    for refusal in choice.refused:
        LOG.warning("%s is not used: %s", refusal.folder, refusal.why)
    if is_must and (choice.refused or choice.checkpoint is None):
        raise ConfigError("resume", _lacking(choice.refused, folder), _instead(choice.checkpoint))
    if choice.checkpoint is None and choice.refused:
        what = f"holds {say_count(len(choice.refused), 'checkpoint')}, none of them whole; {_said(choice.refused[0])}"
        raise RunError(str(folder.checkpoints), what, _ANEW)
    return choice.checkpoint


def _lacking(refused: tuple[Refusal, ...], folder: RunFolder) -> str:
    if refused:
        return f"is must, and the newest checkpoint is not whole; {_said(refused[0])}"
    return f"is must, and there is no checkpoint in {folder.checkpoints}"


def _said(refusal: Refusal) -> str:
    return f"{refusal.folder.name}: {refusal.why}"


def _instead(other: Checkpoint | None) -> str:
    if other is not None:
        return f"Set resume=auto to go on from step {other.manifest.step}."
    return "Set resume=auto to start from the beginning where there is nothing to go on from."


def _named(config: RunConfig, folder: RunFolder) -> Checkpoint:
    """The checkpoint of a path: its own folder, or the newest of a run's."""
    path = Path(config.resume)
    newest = next((steps[0][1] for steps in map(_steps_in, (path, path / "checkpoints")) if steps), None)
    if newest is not None:
        return _opened(newest)
    if not (path / MANIFEST).is_file():
        what = f"is {path}, expected auto, must, never, or the folder of a checkpoint (it holds a {MANIFEST})"
        raise ConfigError("resume", what, "Name a folder such as runs/first/checkpoints/step-00000100.")
    found = _opened(path)
    if is_own(found, folder):
        _check_goes_on(found, config, folder)
    return found


def _steps_in(place: Path) -> list[tuple[int, Path]]:
    return list_steps(place) if place.is_dir() else []


def _opened(path: Path) -> Checkpoint:
    try:
        return open_checkpoint(path)
    except RunError as error:
        raise ConfigError("resume", f"names {path}, which is not used: {error.what}", "Name another one.") from error


def _check_goes_on(found: Checkpoint, config: RunConfig, folder: RunFolder) -> None:
    """ConfigError where a run cannot go on in its own folder from this checkpoint."""
    if config.overwrite:
        what = "names a checkpoint in output_dir, and overwrite=true would remove it"
        raise ConfigError("resume", what, "Drop overwrite, or choose another output_dir.")
    later = [path.name for step, path in list_steps(folder.checkpoints) if step > found.manifest.step]
    if later:
        what = f"is {found.folder}, and later checkpoints stand beside it: {', '.join(later)}"
        raise ConfigError("resume", what, "Choose another output_dir, or move the later ones away.")


def is_own(found: Checkpoint, folder: RunFolder) -> bool:
    """Whether a checkpoint is one of this run folder's."""
    return found.folder.resolve().parent == folder.checkpoints.resolve()
