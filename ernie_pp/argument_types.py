"""What words on a command line may be, where they are numbers."""

from __future__ import annotations

import argparse
import math

from ernie_pp.choices import MAX_THREADS

_MAX_PORT = 65_535


def positive(word: str) -> int:
    """A whole number above 0."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"is {word!r}, expected a whole number above 0")
    return int(word)


def num_threads(word: str) -> int:
    """As many threads as a machine may have."""
    count = positive(word)
    if count > MAX_THREADS:
        raise argparse.ArgumentTypeError(f"is {word}, expected at most {MAX_THREADS}")
    return count


def port(word: str) -> int:
    """A port to listen on; 0: any that is free."""
    if not word.isdecimal() or int(word) > _MAX_PORT:
        raise argparse.ArgumentTypeError(f"is {word!r}, expected a port from 0 to {_MAX_PORT}")
    return int(word)


def amount(word: str) -> float:
    """A number from 0 on, such as seconds."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1e9:
        raise argparse.ArgumentTypeError(f"is {word!r}, expected a number from 0 on")
    return value
