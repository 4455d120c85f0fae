"""Which checkpoint to go on from: the newest one that is whole."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.durable import sync, told_as_unwritable
from ernie_pp.errors import RunError
from ernie_pp.training.checkpoint.folders import list_steps, put_back
from ernie_pp.training.checkpoint.manifest import ADVICE
from ernie_pp.training.checkpoint.names import MANIFEST, refused_name
from ernie_pp.training.checkpoint.saved import Checkpoint, open_checkpoint

__all__ = ["Choice", "Refusal", "choose_newest", "list_steps", "set_aside"]


@dataclass(frozen=True)
class Refusal:
    """A checkpoint that cannot be used; `why` begins with the file at fault."""

    folder: Path
    why: str


@dataclass(frozen=True)
class Choice:
    """The newest whole checkpoint, if there is one, and those newer than it that were refused, newest first."""

    checkpoint: Checkpoint | None
    refused: tuple[Refusal, ...]


def choose_newest(root: Path) -> Choice:
    """Open the checkpoints of `root` from the newest on, up to the first whole one.

    One that a killed run had moved aside to replace it is put back before.
    """
    put_back(root)
    refused = []
    for step, folder in list_steps(root):
        try:
            return Choice(_open(folder, step), tuple(refused))
        except RunError as error:
            refused.append(Refusal(folder, f"{Path(error.where).name}: {error.what}"))
    return Choice(None, tuple(refused))


def set_aside(refused: Iterable[Refusal]) -> None:
    """Rename what was refused, so that it stays for the user to look at and is no checkpoint any more."""
    for refusal in refused:
        root, name = refusal.folder.parent, refusal.folder.name
        free = (copy for copy in itertools.count(1) if not os.path.lexists(root / refused_name(name, copy=copy)))
        target = root / refused_name(name, copy=next(free))
        with told_as_unwritable(target):
            os.rename(refusal.folder, target)
            sync(root)


def _open(folder: Path, step: int) -> Checkpoint:
    checkpoint = open_checkpoint(folder)
    if checkpoint.manifest.step != step:
        what = f"says step {checkpoint.manifest.step}: the folder is not under its own name"
        raise RunError(str(folder / MANIFEST), what, ADVICE)
    return checkpoint
