"""What the folders and files of checkpoints are called.

checkpoints/
  step-00000045/               whole: it came here by one rename
    model-00000.safetensors        weights of a stage, by canonical names
    optimizer-00000.safetensors    optimizer of a stage; with a share in each replica optimizer-00000-00001.safetensors
    trainer.json                   where the loop stood
    manifest.json                  written last
  .tmp-step-00000060-9f3a21bc/ in progress
  .old-step-00000015/          being removed, or replaced
  refused-step-00000030/       was found damaged and set aside, for the user to look at
"""

from __future__ import annotations

import re
import secrets

MANIFEST = "manifest.json"
TRAINER = "trainer.json"
SUFFIX = ".safetensors"
_STEP = re.compile(r"step-(\d{8,12})")
_TEMPORARY = re.compile(r"\.tmp-step-\d{8,12}-[0-9a-f]{8}")
_OLD = re.compile(r"\.old-(step-\d{8,12})")


def step_name(step: int) -> str:
    """The folder of a step."""
    return f"step-{step:08d}"


def step_of(name: str) -> int | None:
    """The step of a folder by its name; None where it is no checkpoint's."""
    found = _STEP.fullmatch(name)
    step = int(found.group(1)) if found else None
    return step if step is not None and step_name(step) == name else None


def temporary_name(step: int) -> str:
    """A new name for a folder in progress."""
    return f".tmp-{step_name(step)}-{secrets.token_hex(4)}"


def is_temporary(name: str) -> bool:
    """Whether a folder was in progress."""
    return _TEMPORARY.fullmatch(name) is not None


def old_name(name: str) -> str:
    """Where a step's folder goes before it is removed."""
    return f".old-{name}"


def name_before_old(name: str) -> str | None:
    """The step's folder that was moved aside to `name`; None where it is no such name."""
    found = _OLD.fullmatch(name)
    return found.group(1) if found else None


def refused_name(name: str, *, copy: int) -> str:
    """Where a damaged checkpoint is kept; `copy` counts from 1 as long as the name is taken."""
    return f"refused-{name}" if copy == 1 else f"refused-{name}-{copy}"


def weights_file(stage: int) -> str:
    """The weights of a stage."""
    return f"model-{stage:05d}{SUFFIX}"


def optimizer_file(stage: int, *, replica: int | None) -> str:
    """The optimizer of a stage, or of one replica's share in it."""
    share = "" if replica is None else f"-{replica:05d}"
    return f"optimizer-{stage:05d}{share}{SUFFIX}"
