"""The run folder: names of what stands in it, and whether a new run may use it."""

from __future__ import annotations

import shutil
from pathlib import Path

from ernie_pp.errors import RunError

# What a run writes; `overwrite: true` removes these and nothing else.
RESULTS = (
    "config.yaml",
    "log.jsonl",
    "run.log",
    "metrics.json",
    "predictions.jsonl",
    "report.html",
    "skipped.jsonl",
    "vdl",
    "best",
    "bundle",
)


class RunFolder:
    """Paths inside `output_dir`."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self.config = self.root / "config.yaml"
        self.log = self.root / "log.jsonl"
        self.text_log = self.root / "run.log"
        self.metrics = self.root / "metrics.json"
        self.predictions = self.root / "predictions.jsonl"
        self.report = self.root / "report.html"
        self.skipped = self.root / "skipped.jsonl"
        self.visualdl = self.root / "vdl"
        self.best = self.root / "best"
        self.bundle = self.root / "bundle"
        self.cache = self.root / "cache"

    def prepare(self, *, overwrite: bool) -> None:
        """Make the folder; results of an earlier run stop us, or are removed when `overwrite` says so."""
        present = [name for name in RESULTS if (self.root / name).exists()]
        if present and not overwrite:
            what = f"holds the results of an earlier run: {', '.join(present)}"
            raise RunError(str(self.root), what, "Choose another output_dir, or set overwrite=true to replace them.")
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            for name in present:
                path = self.root / name
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        except OSError as error:
            what = f"cannot be written: {error.strerror}"
            raise RunError(str(self.root), what, "Choose another output_dir.") from error
