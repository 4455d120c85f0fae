"""Whole runs of the sample recipe: the same weights give the same figures and predictions under every grid."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.grid_checks.table import Line

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "tasks" / "sentiment" / "config.yaml"
# One step that changes nothing: all grids then measure the weights they started from.
_STILL = ["train.max_steps=1", "train.learning_rate=1.0e-30", "train.weight_decay=0.0", "export.enabled=false"]
GRIDS = {
    "1x1": [],
    "2x1": ["parallel.stages=2", "parallel.micro_batches=4"],
    "2x2": ["parallel.stages=2", "parallel.replicas=2", "parallel.micro_batches=4"],
}


def check() -> Iterator[Line]:
    """metrics.json and predictions.jsonl of each grid against one process."""
    with tempfile.TemporaryDirectory(prefix="check_grid-") as folder:
        found = {name: _run(words, Path(folder, name)) for name, words in GRIDS.items()}
    for name in ("2x1", "2x2"):
        metrics, predictions = found[name]
        yield Line(f"{name}: dev metrics that differ from one process", _num_different(metrics, found["1x1"][0]), 0)
        differ = sum(one != other for one, other in zip(predictions, found["1x1"][1], strict=True))
        yield Line(f"{name}: predictions that differ, of {len(predictions)}", differ, 0)


def _run(words: list[str], folder: Path) -> tuple[dict, list[str]]:
    command = [sys.executable, "-m", "ernie_pp.tasks.cls", "--quiet", "--config", str(RECIPE), *_STILL, *words]
    subprocess.run([*command, f"output_dir={folder}"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return metrics["dev"], (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()


def _num_different(found: dict, expected: dict) -> int:
    return sum(found.get(name) != expected.get(name) for name in found.keys() | expected.keys())
