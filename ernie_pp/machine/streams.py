"""The process's own streams, which may be closed, full, or joined to a reader that goes."""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO


def set_up_streams() -> None:
    """Streams that do not end a run, whatever they are joined to."""
    with contextlib.suppress(OSError):
        # A number that was closed (2>&-) would be given to the next file opened, and libraries write into 1 and 2.
        while (number := os.open(os.devnull, os.O_RDWR)) < 3:
            pass
        os.close(number)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (open to the end)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal of another encoding shows a label escaped; hours of training must not end in an error here.
        sys.stdout.reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def silenced_errors() -> Iterator[None]:
    """What libraries print to standard error meanwhile, below Python, goes nowhere."""
    flush = ctypes.CDLL(None).fflush  # of C's own buffers, which know nothing of the exchange
    flush(None)
    try:
        kept = os.dup(2)
    except OSError:  # closed: nothing comes out anyway
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        flush(None)
        os.dup2(kept, 2)
        os.close(kept)


def let_go(stream: TextIO | None) -> None:
    """Write what is left; where it cannot be written Python must not try again at exit, with a code of its own."""
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except ValueError:  # closed already
        pass
