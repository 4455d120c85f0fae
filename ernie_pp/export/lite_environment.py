"""Where Paddle Lite stands: an environment of its own, since its wheels are for Python up to 3.10."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.errors import RunError

VARIABLE = "ERNIE_PP_LITE"
OPT = "paddle_lite_opt"
_ADVICE = f"Run `python tools/set_up_lite.py`, or set {VARIABLE} to the folder of an environment that has paddlelite."
_VERSION = "import importlib.metadata as m, paddlelite.lite; print(m.version('paddlelite'))"


@dataclass(frozen=True)
class LiteEnvironment:
    """A virtual environment with paddlelite, and its version."""

    folder: Path
    version: str

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def opt(self) -> Path:
        """The converter."""
        return self.folder / "bin" / OPT


def default_folder() -> Path:
    """Where `tools/set_up_lite.py` makes it."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "ernie_pp" / "lite"


def find_lite() -> LiteEnvironment:
    """The environment that the variable ERNIE_PP_LITE names, or the one at `default_folder()`.

    RunError where there is none, or where it cannot import paddlelite.
    """
    named = os.environ.get(VARIABLE)
    folder = Path(named) if named else default_folder()
    where = f"{VARIABLE}={named}" if named else str(folder)
    environment = LiteEnvironment(folder, "")
    for path in (environment.python, environment.opt):
        if not path.is_file():
            raise RunError(where, f"has no {path.relative_to(folder)}, which Paddle Lite needs", _ADVICE)
    done = subprocess.run(
        [environment.python, "-c", _VERSION], capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise RunError(where, f"cannot import paddlelite: {last}", _ADVICE)
    return LiteEnvironment(folder, done.stdout.split()[-1])
