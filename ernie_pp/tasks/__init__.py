"""How each kind of problem is solved; `load_task` and `load_codec` find a kind's code by its name."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ernie_pp.errors import ModelError

if TYPE_CHECKING:
    # Imports Paddle, which prediction must be able to do without until it loads a bundle.
    from ernie_pp.tasks.interface import TaskClass

KINDS = ("cls", "ner", "docqa")


def load_task(kind: str) -> TaskClass:
    """The class in `tasks/<kind>/task.py`: all of a kind, for training."""
    return importlib.import_module(f"ernie_pp.tasks.{kind}.task").Task


@dataclass(frozen=True)
class Codec:
    """The modules of a kind that prediction needs; none of them loads Paddle."""

    example: Any
    features: Any
    decode: Any


def load_codec(kind: str) -> Codec:
    """How a kind reads rows, encodes texts and decodes logits."""
    if kind not in KINDS:
        raise ModelError(f"task {kind}", f"is not known here; known: {', '.join(KINDS)}", "Use a newer ernie_pp.")
    parts = {
        part: importlib.import_module(f"ernie_pp.tasks.{kind}.{part}") for part in ("example", "features", "decode")
    }
    return Codec(**parts)
