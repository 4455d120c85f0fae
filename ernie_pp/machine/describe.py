"""Versions and devices of this machine, for `doctor`, the log and the report."""

from __future__ import annotations

import importlib.metadata
import os
import platform

from ernie_pp.machine.cpu import count_cores

PACKAGES = (
    "paddlepaddle",
    "paddlepaddle-gpu",
    "paddlenlp",
    "tokenizers",
    "safetensors",
    "datasets",
    "numpy",
    "pydantic",
)


def describe_machine() -> dict[str, str]:
    """Name and value of what matters about this machine, in the order to show it. Loads nothing heavy."""
    lines = {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
    lines.update({name: version for name in PACKAGES if (version := _version(name))})
    lines["cores"] = str(count_cores())
    lines["memory"] = f"{memory_bytes() / 2**30:.1f} GiB"
    return lines


def version_problems() -> list[str]:
    """What is wrong with the installed packages, each with what to do."""
    cpu, gpu = _version("paddlepaddle"), _version("paddlepaddle-gpu")
    if cpu and gpu:
        return ["paddlepaddle and paddlepaddle-gpu overwrite each other: uninstall both, then install one"]
    if not cpu and not gpu:
        return ['Paddle is not installed: pip install "ernie-pp[cpu]", or the GPU wheel as the README says']
    return []


def memory_bytes() -> int:
    """Physical memory, or the container's limit where that is smaller."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(name, encoding="ascii") as file:
                total = min(total, int(file.read()))
        except (OSError, ValueError):
            continue
    return total


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def resident_bytes() -> int:
    """Memory this process holds now."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        sizes = [line.split()[1] for line in file if line.startswith("VmRSS:")]
    return 1024 * int(sizes[0]) if sizes else 0
