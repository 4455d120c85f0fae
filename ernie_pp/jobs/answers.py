"""Answers of a process of ours to the one that started it, one line each on standard output."""

from __future__ import annotations

import os
from typing import TextIO


def own_stdout() -> TextIO:
    """Standard output for our answers alone: what libraries print there goes to standard error from now on."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    return own
