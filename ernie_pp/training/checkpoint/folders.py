"""The folder of all checkpoints, as its one writer changes it: only by renames that a kill at any moment survives."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from ernie_pp.durable import sync, told_as_unwritable
from ernie_pp.errors import RunError
from ernie_pp.training.checkpoint.names import (
    MANIFEST,
    is_temporary,
    name_before_old,
    old_name,
    step_name,
    step_of,
)

# A full disk would hinder the logs too.
_ROOM_FACTOR = 1.2


def list_steps(root: Path) -> list[tuple[int, Path]]:
    """The step folders there are, newest first, none of them opened; nothing where there is no `root`."""
    found = [(step, root / name) for name in _names(root) if (step := step_of(name)) is not None]
    with _told_as_unreadable(root):
        return sorted(((step, path) for step, path in found if path.is_dir()), reverse=True)


def put_back(root: Path) -> None:
    """Give a checkpoint its name again that a killed run had moved aside to replace it."""
    for name in _names(root):
        original = name_before_old(name)
        if original is None or os.path.lexists(root / original):
            continue
        # `remove` begins with the manifest: who still has one was not being removed.
        if os.path.isfile(root / name / MANIFEST):
            with contextlib.suppress(OSError):
                os.rename(root / name, root / original)
                sync(root)


def tidy(root: Path) -> None:
    """Put back what a killed run was about to replace, and remove what it left behind. For the one who writes."""
    put_back(root)
    for name in _names(root):
        if name_before_old(name) is not None or is_temporary(name):
            remove(root / name)


def begin(folder: Path, *, num_bytes: int) -> None:
    """Make a new empty folder to fill; RunError where it cannot be made or there is no room for so many bytes."""
    root = folder.parent
    with told_as_unwritable(root):
        if not root.is_dir():
            root.mkdir()  # in the run folder: where that has vanished, it was on a disk that has
            sync(root.parent)
        needed, free = int(num_bytes * _ROOM_FACTOR), shutil.disk_usage(root).free
        if free < needed:
            what = f"has {free / 1e6:.1f} MB left, and a checkpoint needs {needed / 1e6:.1f} MB"
            raise RunError(str(root), what, "Make room on the disk.")
        folder.mkdir()


def commit(folder: Path, step: int) -> None:
    """Give a filled folder its name, on the disk; an older checkpoint of the same step goes."""
    root, name = folder.parent, step_name(step)
    final, old = root / name, root / old_name(name)
    remove(old)
    with told_as_unwritable(final):
        sync(folder)
        if os.path.lexists(final):
            os.rename(final, old)
        try:
            os.rename(folder, final)
        except OSError:
            if os.path.lexists(old):
                os.rename(old, final)
            raise
        sync(root)
    remove(old)


def prune(root: Path, *, keep: int, spared: Collection[int]) -> None:
    """Remove all but the newest `keep` checkpoints and those of the steps `spared`; OSError or RunError where not."""
    steps = [step for step, _ in list_steps(root)]
    for step in steps_to_remove(steps, keep=keep, spared=spared):
        folder = root / step_name(step)
        old = root / old_name(folder.name)
        remove(old)
        os.rename(folder, old)
        remove(old)


def steps_to_remove(steps: Sequence[int], *, keep: int, spared: Collection[int]) -> list[int]:
    """Of the steps that have a checkpoint those that lose it, oldest first."""
    newest = sorted(steps)[-keep:] if keep else []
    return [step for step in sorted(steps) if step not in newest and step not in spared]


def remove(folder: Path) -> None:
    """Remove a folder that is no checkpoint any more; what cannot be removed stays for the next time."""
    with contextlib.suppress(OSError):
        if folder.is_symlink():
            folder.unlink()  # where it leads is the user's
            return
        # First: what is left of it after a kill is not put back by `tidy`.
        (folder / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _names(root: Path) -> list[str]:
    with _told_as_unreadable(root):
        try:
            return sorted(os.listdir(root))
        except FileNotFoundError:
            return []


@contextlib.contextmanager
def _told_as_unreadable(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(str(root), f"cannot be read: {error.strerror}", "Check the name and the rights.") from error
