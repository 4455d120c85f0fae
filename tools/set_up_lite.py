"""Make the environment in which `ernie-pp export --format lite` converts and checks: Paddle Lite on Python 3.10 or 3.8.

    python tools/set_up_lite.py [--python python3.10] [--folder DIR] [--index-url URL]

Its wheels are for older Pythons than ernie_pp's, so it stands apart: in ~/.cache/ernie_pp/lite, or where --folder says
(then set ERNIE_PP_LITE to that folder). Nothing of ernie_pp is installed there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ernie_pp.errors import ErniePPError  # noqa: E402
from ernie_pp.export.lite_environment import VARIABLE, default_folder, find_lite  # noqa: E402

PACKAGES = ("paddlelite==2.13rc0", "numpy<2")
PYTHONS = ("python3.10", "python3.8")


def main() -> None:
    """Make it, and say where it is."""
    words = _parse()
    python = words.python or next((path for name in PYTHONS if (path := _runnable(name))), None)
    if python is None:
        sys.exit(f"none of {', '.join(PYTHONS)} is there; install one, or name one with --python")
    folder = Path(words.folder) if words.folder else default_folder()
    _run([python, "-m", "venv", "--clear", str(folder)])
    index = ["--index-url", words.index_url] if words.index_url else []
    _run([str(folder / "bin" / "python"), "-m", "pip", "install", "-q", *index, *PACKAGES])
    os.environ[VARIABLE] = str(folder)
    print(f"Paddle Lite {find_lite().version} in {folder}")
    if folder != default_folder():
        print(f"export {VARIABLE}={folder}")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", metavar="PATH", help=f"the Python it is made of (default: {' or '.join(PYTHONS)})")
    parser.add_argument("--folder", metavar="DIR", help=f"where it stands (default: {default_folder()})")
    parser.add_argument("--index-url", metavar="URL", help="package index (default: pip's own)")
    return parser.parse_args()


def _runnable(name: str) -> str | None:
    """A Python's path, where it runs: a name on the path may be a switch between versions that are not there."""
    path = shutil.which(name)
    if path is None or subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode:
        return None
    return path


def _run(command: list[str]) -> None:
    done = subprocess.run(command, check=False)
    if done.returncode:
        sys.exit(f"failed (exit code {done.returncode}): {' '.join(command)}")


if __name__ == "__main__":
    try:
        main()
    except ErniePPError as error:
        sys.exit(str(error))
