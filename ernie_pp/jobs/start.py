"""Loading Paddle: after the CPU switches, without its note about threads, with our signal handlers kept."""

from __future__ import annotations

import contextlib
import io
import logging
import sys

from ernie_pp.config import CpuConfig
from ernie_pp.machine import CpuSetup, blocked_signals, set_up_cpu

LOG = logging.getLogger("ernie_pp")
# Paddle prints both when it is told to use more than one thread, which is what we tell it.
_NOTES = ("WARNING: OMP_NUM_THREADS set to", "PLEASE USE OMP_NUM_THREADS WISELY")


def start_paddle(cpu: CpuConfig) -> CpuSetup:
    """Make the CPU switches, then import Paddle; nothing before this call may have imported it."""
    setup = set_up_cpu(math=cpu.math, keep_heap=cpu.keep_heap, threads=cpu.threads)
    LOG.info("%s", setup)
    for problem in setup.problems:
        LOG.warning("%s", problem)
    said = io.StringIO()
    try:
        with blocked_signals(), contextlib.redirect_stderr(said):
            import paddle  # noqa: F401
    finally:
        others = [line for line in said.getvalue().splitlines(keepends=True) if not line.startswith(_NOTES)]
        if others:
            with contextlib.suppress(OSError, AttributeError):  # full or closed: a note is no reason to end a run
                sys.stderr.write("".join(others))
    return setup
