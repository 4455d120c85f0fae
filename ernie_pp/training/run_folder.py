"""The run folder: names of what stands in it, and whether a new run may use it."""

from __future__ import annotations

import shutil
from pathlib import Path

from ernie_pp.durable import leftovers
from ernie_pp.errors import RunError

# What a run makes from its first step on; `overwrite: true` removes these and nothing else.
RESULTS = (
    "config.yaml",
    "log.jsonl",
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

    def check_is_run(self) -> None:
        """RunError where no run has begun to train here."""
        if not self.config.is_file():
            what = "is not a run folder: it has no config.yaml"
            raise RunError(str(self.root), what, "Give the output_dir of a run.")
        if not self.best.is_dir():
            what = "has no best/: the run ended before its first evaluation"
            raise RunError(str(self.root), what, "Run it again (overwrite=true).")

    def prepare(self, *, overwrite: bool) -> None:
        """Make the folder; results of an earlier run stop us, unless `overwrite` says that they may go."""
        present = self._present()
        if present and not overwrite:
            what = f"holds the results of an earlier run: {', '.join(present)}"
            raise RunError(str(self.root), what, "Choose another output_dir, or set overwrite=true to replace them.")
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error

    def clear(self) -> None:
        """Remove the results of an earlier run; for when settings, data and model of the new one have proved good."""
        try:
            for path in (*leftovers(self.best), *leftovers(self.bundle)):
                shutil.rmtree(path, ignore_errors=True)
            for name in self._present():
                path = self.root / name
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        except OSError as error:
            raise self._unwritable(error) from error

    def _present(self) -> list[str]:
        return [name for name in RESULTS if (self.root / name).exists()]

    def _unwritable(self, error: OSError) -> RunError:
        return RunError(str(self.root), f"cannot be written: {error.strerror}", "Choose another output_dir.")
