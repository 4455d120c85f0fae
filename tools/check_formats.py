"""Export runs to every format that this machine can check, and print how each compares with its model.

    python tools/check_formats.py RUN [RUN ...] [--formats inference onnx-int8 ...] [--output FOLDER]

`same` counts the stored rows that are decided as the model decides them (`export.check_rows` of the run: 300 for a fair
look), `difference` is the largest of their logits; the dev figure is that of the bundle, and what it loses in points. A
line that cannot be says why.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ernie_pp.export.bundle import open_bundle  # noqa: E402
from ernie_pp.export.formats import FORMATS  # noqa: E402
from ernie_pp.machine.describe import describe_machine  # noqa: E402

COLUMNS = ("run", "head", "format", "precision", "MB", "same", "difference", "largest logit", "dev", "points lost")


def main() -> None:
    """Print a row an export, as a Markdown table."""
    words = _parse()
    machine = describe_machine()
    print(f"machine: {machine['cores']} cores, {machine['memory']}, Paddle {machine.get('paddlepaddle')}\n")
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    for run in words.runs:
        for name in words.formats:
            print("| " + " | ".join(_row(Path(run), name, Path(words.output))) + " |", flush=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [f"{name}-{precision}" for name, spec in FORMATS.items() for precision in spec.precisions]
    usual = [name for name in known if not name.endswith(("fp16", "bf16"))]
    parser.add_argument("runs", metavar="RUN", nargs="+", help="run folders")
    parser.add_argument("--formats", nargs="+", choices=known, default=usual, metavar="FORMAT", help=", ".join(known))
    parser.add_argument("--output", metavar="FOLDER", required=True, help="where the bundles go")
    return parser.parse_args()


def _row(run: Path, name: str, output: Path) -> list[str]:
    kind, _, precision = name.rpartition("-")
    bundle = output / run.name / name
    bundle.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "ernie_pp.cli", "export", "--run", str(run), "--output", str(bundle)]
    command += ["--format", kind, "--precision", precision]
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths}, check=False)
    if done.returncode:
        told = " ".join(line.strip() for line in done.stderr.strip().splitlines()[-3:])
        return [run.name, "", kind, precision, f"refused: {told}", *[""] * (len(COLUMNS) - 5)]
    return [run.name, *_figures(bundle, kind, precision)]


def _figures(folder: Path, kind: str, precision: str) -> list[str]:
    bundle = open_bundle(folder)
    manifest, parity = bundle.manifest, bundle.manifest["parity"]
    size = sum((folder / name).stat().st_size for name in bundle.spec.files) / 1e6
    same = f"{parity['num_rows'] - parity['num_different_decisions']} of {parity['num_rows']}"
    figures = [f"{parity['max_logit_difference']:.1e}", f"{parity['largest_logit']:.1f}"]
    if parity["dev_bundle"] is None:
        dev = ["", ""]
    else:
        lost = 100 * (parity["dev_model"] - parity["dev_bundle"])
        dev = [f"{parity['dev_figure']} {parity['dev_bundle']:.4f}", f"{lost:.2f}"]
    return [manifest["head"]["kind"], kind, precision, f"{size:.1f}", same, *figures, *dev]


if __name__ == "__main__":
    main()
