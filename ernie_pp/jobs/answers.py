"""A process of ours that answers the one that started it, in lines on standard output."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from ernie_pp.machine.parents import follow_parent

_STARTED_BY = "ERNIE_PP_STARTED_BY"


def helper_command(module: str, *words: str) -> list[str]:
    """What starts one of our modules."""
    # A script's own process does not look for modules in the current folder, where a user may have a random.py.
    is_script = getattr(sys.modules.get("__main__"), "__spec__", None) is None
    is_safe = sys.version_info >= (3, 11) and (is_script or sys.flags.safe_path)
    return [sys.executable, *(["-P"] if is_safe else []), "-m", module, *words]


def helper_environment() -> dict[str, str]:
    """Ours, without what would make Paddle believe that the process is a rank of this run; and who starts it."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PADDLE_")}
    return {**own, _STARTED_BY: str(os.getpid())}


def follow_starter() -> None:
    """In a helper: end with the process that started this one, whatever ends it. Does nothing when started by hand."""
    starter = os.environ.get(_STARTED_BY)
    if starter is not None:
        follow_parent(int(starter), said="the process that started this helper is gone")


def own_stdout() -> TextIO:
    """Standard output for our answers alone: what libraries print there goes to standard error from now on."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    return own
