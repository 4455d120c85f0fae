"""How each kind of problem is solved; `load_task` and `load_codec` find a kind's code by its name."""

from __future__ import annotations

import importlib
from typing import Any

from ernie_pp.errors import ModelError

KINDS = ("cls",)


def load_task(kind: str) -> Any:
    """The class in `tasks/<kind>/task.py`: all of a kind, for training."""
    return importlib.import_module(f"ernie_pp.tasks.{kind}.task").Task


def load_codec(kind: str) -> tuple[Any, Any]:
    """(features, decode) modules of a kind: what prediction needs, without Paddle."""
    if kind not in KINDS:
        raise ModelError(f"task {kind}", f"is not known here; known: {', '.join(KINDS)}", "Use a newer ernie_pp.")
    return tuple(importlib.import_module(f"ernie_pp.tasks.{kind}.{part}") for part in ("features", "decode"))  # type: ignore[return-value]
