"""Sizes in bytes as people write them: 16GiB, 512 MB, 25GB/s."""

from __future__ import annotations

import re

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B\s*", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_bytes(text: str) -> int:
    """Bytes of a number with a unit: B, kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (of 1024).

    ValueError for anything else, and for a size of no byte.
    """
    found = _SIZE.fullmatch(text)
    if not found:
        raise ValueError(f"is {text!r}, expected a number with a unit, such as 16GiB or 512MB")
    number, prefix, binary = found.groups()
    size = round(float(number) * (1024 if binary else 1000) ** _POWERS[prefix.upper()])
    if size < 1:
        raise ValueError(f"is {text!r}, expected at least one byte")
    return size


def parse_rate(text: str) -> float:
    """Bytes a second of a size followed by /s, such as 25GB/s."""
    if not text.rstrip().endswith("/s"):
        raise ValueError(f"is {text!r}, expected a size a second, such as 25GB/s")
    return float(parse_bytes(text.rstrip().removesuffix("/s")))


def format_bytes(size: float) -> str:
    """The size in the largest binary unit that leaves at least 1, with three digits."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1023.5:
            return (
                f"{size:.0f} B" if unit == "B" else f"{float(f'{size:.3g}') if size < 1000 else round(size):g} {unit}"
            )
        size /= 1024
    return f"{size:.3g} TiB"
