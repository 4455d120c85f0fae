"""Paddle Lite's .nb, by the `opt` of a Paddle Lite environment."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ernie_pp.errors import RunError
from ernie_pp.export.lite_environment import find_lite

_TIMEOUT_S = 1800
DEFAULT_TARGETS = ("x86",)


def write_naive_buffer(program: Path, buffer: Path, *, targets: tuple[str, ...] = DEFAULT_TARGETS) -> dict:
    """Write `buffer` (.nb) of an old program and the parameters beside it; RunError names what opt refuses."""
    lite = find_lite()
    command = [
        str(lite.opt),
        f"--model_file={program}",
        f"--param_file={program.with_suffix('.pdiparams')}",
        f"--optimize_out={buffer.with_suffix('')}",
        "--optimize_out_type=naive_buffer",
        f"--valid_targets={','.join(targets)}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    said = done.stdout + done.stderr
    if done.returncode or not buffer.is_file():
        what = f"cannot be converted by Paddle Lite {lite.version} (exit code {done.returncode}):\n{_important(said)}"
        raise RunError(str(buffer), what, "Take another --format.")
    return {"converters": {"paddlelite": lite.version}, "targets": list(targets)}


def _important(said: str) -> str:
    """The lines that name operators, or else the last ones."""
    lines = [line for line in said.splitlines() if line.strip()]
    named = [line for line in lines if "not supported" in line.lower() or "op" in line.lower().split()]
    return "\n".join((named or lines)[-8:])
