"""A home folder that can be written, for libraries that put files of their own there unasked."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def scratch_home() -> Iterator[None]:
    """HOME is a temporary folder while the block runs: the user's may not be writable."""
    before = os.environ.get("HOME")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["HOME"] = scratch
        try:
            yield
        finally:
            os.environ.pop("HOME")
            if before is not None:
                os.environ["HOME"] = before
