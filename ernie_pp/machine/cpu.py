"""CPU switches that must be made before Paddle is loaded: the math library's fast path, and the heap.

The Paddle wheel's math library looks at the CPU's maker and takes a slow path on anything but Intel; a documented
variable of that library overrides the choice. glibc gives some large blocks back to the system after every operator,
and each step pays for the page faults; `mallopt` keeps them. What is kept has holes: glibc before 2.38 cannot put an
aligned block into a hole of its own size, and a process then holds up to twice what its tensors need. The other way
is as tight as can be: every block of some size has pages of its own, which go back with it.
"""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.choices import MAX_THREADS, Math

LOG = logging.getLogger("ernie_pp")

MATH_SWITCH = "MKL_DEBUG_CPU_TYPE"
_AVX512 = {"avx512f", "avx512dq", "avx512bw", "avx512vl"}
_AVX2 = {"avx2", "fma"}
# Numbers of glibc's <malloc.h>.
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD, _M_MMAP_MAX = -1, -2, -3, -4
# Blocks from here on have pages of their own; said once, glibc no longer raises it by itself.
_OWN_PAGES_BYTES = 128 << 10


@dataclass(frozen=True)
class CpuSetup:
    """What was set, for the log; `problems` says what is still slow and why."""

    model: str
    math_switch: str | None
    keeps_heap: bool
    threads: int
    problems: tuple[str, ...]

    def __str__(self) -> str:
        math = f"{MATH_SWITCH}={self.math_switch}" if self.math_switch else "the math library's own choice"
        heap = "kept between steps" if self.keeps_heap else "returned to the system"
        return f"CPU {self.model}: {self.threads} threads, {math}, freed memory {heap}"


def set_up_cpu(*, math: Math, keep_heap: bool, threads: int | None) -> CpuSetup:
    """Make the switches for this process. Call it before anything imports paddle."""
    problems = ["Paddle was loaded before the CPU switches were made; they may have no effect"] if _is_late() else []
    slow_path = switch_math(math, off="cpu.math: off")
    problems += [slow_path] if slow_path is not None else []
    _, model, _ = read_cpu_info()
    count = set_threads(threads)
    return CpuSetup(model, os.environ.get(MATH_SWITCH), _set_up_heap(keep=keep_heap), count, tuple(problems))


def switch_math(math: Math, *, off: str) -> str | None:
    """Choose the math library's fast path under "auto"; what is still slow and why, or None.

    Sets one variable of this process, MKL_DEBUG_CPU_TYPE, on AMD CPUs and where the user did not; `off` is what the
    user wrote to have it left alone.
    """
    maker, _, flags = read_cpu_info()
    wanted = choose_math_switch(maker, flags)
    if wanted is None or MATH_SWITCH in os.environ:
        return None
    what = f"the math library takes its slow path on this {maker} CPU"
    if math == "off":
        return f"{what} ({off})"
    os.environ[MATH_SWITCH] = wanted
    return f"{what} (Paddle was loaded before)" if _is_late() else None


def choose_math_switch(maker: str, flags: set[str]) -> str | None:
    """The value that selects the widest vectors this CPU has; None where the library chooses well by itself."""
    if maker not in ("AuthenticAMD", "HygonGenuine"):
        return None
    if flags >= _AVX512:
        return "7"
    return "5" if flags >= _AVX2 else None


def read_cpu_info(path: Path = Path("/proc/cpuinfo")) -> tuple[str, str, set[str]]:
    """(maker, model name, flags) of the first CPU; empty where the system does not say."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "", "unknown", set()
    values: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(":")
        values.setdefault(key.strip(), value.strip())
    return values.get("vendor_id", ""), values.get("model name", "unknown"), set(values.get("flags", "").split())


def set_threads(wanted: int | None) -> int:
    """Set the number of math threads of this process (none: as the environment says, else one a core); returns it.

    For processes of our own: the variables hold for every library the process loads.
    """
    count = wanted or _threads_of_environment() or count_cores()
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(count)
    # Threads that wait by spinning take the cores other processes need: with one beside us, two threads were slower
    # than one, and 1.4 times as fast as one when they sleep.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return count


def threads_per_process(num_processes: int, *, wanted: int | None) -> int:
    """Math threads of each of so many processes on this machine: as wanted, else an equal share of the cores.

    OMP_NUM_THREADS of the environment, often set for whole machines, lowers the share and does not raise it.
    """
    share = max(1, count_cores() // num_processes)
    return wanted or min(share, _threads_of_environment() or share)


def _threads_of_environment() -> int | None:
    given = os.environ.get("OMP_NUM_THREADS", "")
    if not given:
        return None
    if given.isascii() and given.isdigit() and 1 <= int(given[:9]) <= MAX_THREADS and len(given) < 9:
        return int(given)
    expected = f"expected a whole number from 1 to {MAX_THREADS}: one thread a core is used"
    LOG.warning("OMP_NUM_THREADS is %r, %s", given[:40], expected)
    return None


def _is_late() -> bool:
    return any(name == "paddle" or name.endswith("libpaddle") for name in sys.modules)


def count_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _set_up_heap(*, keep: bool) -> bool:
    """Whether freed memory is kept from here on."""
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False  # Not glibc: there is no such switch.
    if not keep:
        mallopt(_M_MMAP_THRESHOLD, _OWN_PAGES_BYTES)
        return False
    return all(
        mallopt(option, value) == 1
        for option, value in ((_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, 2**31 - 1), (_M_TOP_PAD, 64 << 20))
    )
