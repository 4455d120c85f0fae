"""From where a run starts: the checkpoint it goes on from, or its beginning."""

from __future__ import annotations

import logging
from pathlib import Path

from ernie_pp.config import RunConfig
from ernie_pp.config.fields import value_at
from ernie_pp.config.resume_rules import changed_settings
from ernie_pp.config.yaml_reader import read_yaml
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
    if config.resume == "never":
        return None
    if is_settled:
        return _opened(Path(config.resume), verify=False)
    found = _newest(config, folder) if config.resume in ("auto", "must") else _named(config, folder)
    if found is not None and may_replace(config, folder, found) and _changes(found, config):
        LOG.info("overwrite=true: the unfinished run in %s has other settings and is replaced", folder.root)
        return None
    if found is not None:
        _check_settings(found, config, folder)
    return found


def _check_settings(found: Checkpoint, config: RunConfig, folder: RunFolder) -> None:
    """ConfigError that lists every setting by which this would be another run."""
    changed = _changes(found, config)
    if changed:
        what = "\n".join([f"is of a run with other settings ({len(changed)}):", *changed])
        raise ConfigError(str(found.folder), what, f"Set them as they were to go on. {_instead_of(found, folder)}")


def _instead_of(found: Checkpoint, folder: RunFolder) -> str:
    """What else may be wanted by who gives other settings."""
    if is_own(found, folder):
        return _ANEW
    best = found.folder.parent.parent / "best"
    return f"To train its model on with these, drop resume and set model.path={best}." if best.is_dir() else ""


def is_done(config: RunConfig, folder: RunFolder) -> bool:
    """Whether this very run has come to its end here before."""
    is_asked_again = config.resume == "auto" and not config.overwrite
    if not is_asked_again or not folder.is_finished(with_bundle=config.export.enabled) or not folder.is_run():
        return False
    return not changed_settings(read_yaml(folder.config).values, config)


def may_replace(config: RunConfig, folder: RunFolder, found: Checkpoint) -> bool:
    """Whether a checkpoint that does not fit gives way to a new run: it is the folder's own, and may be removed."""
    return config.overwrite and is_own(found, folder)


def may_begin_again(config: RunConfig, folder: RunFolder) -> bool:
    """Whether what stands in the folder is the beginning of this very run, before its first checkpoint."""
    if config.resume == "never" or not folder.has_no_checkpoint():
        return False
    saved = read_yaml(folder.config).values
    is_saving = value_at(saved, ("checkpoint", "enabled")) is not False
    # Without checkpoints a best model is all that there may ever be.
    return not folder.best.is_dir() or (is_saving and not changed_settings(saved, config))


def is_own(found: Checkpoint, folder: RunFolder) -> bool:
    """Whether a checkpoint is one of this run folder's."""
    return found.folder.resolve().parent == folder.checkpoints.resolve()


def _changes(found: Checkpoint, config: RunConfig) -> list[str]:
    saved = found.manifest.run.get("config")
    if not isinstance(saved, dict):
        raise ConfigError(str(found.folder), "does not say the settings of its run", "Give a checkpoint of ernie_pp.")
    return changed_settings(saved, config)


def _newest(config: RunConfig, folder: RunFolder) -> Checkpoint | None:
    is_must = config.resume == "must"
    if folder.is_finished(with_bundle=config.export.enabled):
        if is_must:
            raise _is_over(config, folder)
        return None
    choice = choose_newest(folder.checkpoints)
    for refusal in choice.refused:
        LOG.warning("%s is not used: %s", refusal.folder, refusal.why)
    if is_must and (choice.refused or choice.checkpoint is None):
        raise ConfigError("resume", _lacking(choice.refused, folder), _instead(choice.checkpoint))
    if choice.checkpoint is None and choice.refused and not config.overwrite:
        what = f"holds {say_count(len(choice.refused), 'checkpoint')}, none of them whole; {_said(choice.refused[0])}"
        raise RunError(str(folder.checkpoints), what, _ANEW)
    return choice.checkpoint


def _is_over(config: RunConfig, folder: RunFolder) -> ConfigError:
    what = f"is {config.resume}, and the run in {folder.root} has come to its end"
    return ConfigError("resume", what, "Choose another output_dir.")


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


def _named(config: RunConfig, folder: RunFolder) -> Checkpoint | None:
    """The checkpoint of a path: its own folder, or the newest of a run's; None where the run has come to its end."""
    path = Path(config.resume)
    newest = next((steps[0][1] for steps in map(_steps_in, (path, path / "checkpoints")) if steps), None)
    if newest is None and not (path / MANIFEST).is_file():
        what = f"is {path}, expected auto, must, never, or the folder of a checkpoint (it holds a {MANIFEST})"
        raise ConfigError("resume", what, "Name a folder such as runs/first/checkpoints/step-00000100.")
    found = _opened(newest or path)
    if is_own(found, folder):
        _check_is_last(found, folder)
        if folder.is_finished(with_bundle=config.export.enabled):
            raise _is_over(config, folder)
        return found
    # The same command again: the fork that it has begun before goes on.
    fork = _newest(config, folder)
    if fork is not None and fork.manifest.run.get("origin") == str(found.folder.resolve().parent):
        LOG.info("%s is a fork of %s: it is gone on with", folder.root, found.folder)
        return fork
    return found


def _steps_in(place: Path) -> list[tuple[int, Path]]:
    return list_steps(place) if place.is_dir() else []


def _opened(path: Path, *, verify: bool = True) -> Checkpoint:
    try:
        return open_checkpoint(path, verify=verify)
    except RunError as error:
        raise ConfigError("resume", f"names {path}, which is not used: {error.what}", "Name another one.") from error


def _check_is_last(found: Checkpoint, folder: RunFolder) -> None:
    """ConfigError where a run would go on in its own folder from a checkpoint that others come after."""
    later = [path.name for step, path in list_steps(folder.checkpoints) if step > found.manifest.step]
    if later:
        what = f"is {found.folder}, and later checkpoints stand beside it: {', '.join(later)}"
        raise ConfigError("resume", what, "Choose another output_dir, or move the later ones away.")
