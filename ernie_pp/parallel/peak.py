"""The most memory this process has held."""

from __future__ import annotations

import resource
import sys

import paddle


def peak_memory_bytes(*, is_cpu: bool) -> int:
    """Of the GPU where it computes there, else of the machine; since the start of the process."""
    if not is_cpu:
        return int(paddle.device.cuda.max_memory_allocated())
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
