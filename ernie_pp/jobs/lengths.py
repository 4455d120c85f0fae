"""The length limit, where it refuses texts instead of cutting them."""

from __future__ import annotations

from typing import Any

from ernie_pp.data.rows import Fault


def too_long(example: Any, length: int, *, limit: int) -> Fault:
    """The fault of a text over the length limit."""
    expected = f"at most {limit} tokens (text.max_length), found {length}"
    return Fault(example.place, "text", example.text, expected, "Shorten it, or set text.truncate to cut it.")
