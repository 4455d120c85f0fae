"""The known name a mistyped one stands for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# Below this share of common characters a hint misleads more often than it helps.
_LEAST_LIKENESS = 0.5


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`; None where none is like it."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=_LEAST_LIKENESS)
    return close[0] if close else None
