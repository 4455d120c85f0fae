"""The run folder: names of what stands in it, and whether a new run may use it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from ernie_pp.durable import clear_leftovers, told_as_unwritable, write_text
from ernie_pp.errors import ConfigError, RunError

# The first line of the config.yaml that a run writes: with run.log beside it, it marks a folder as a run's.
MARK = "# The settings of this run, written by ernie_pp."
# What a run makes from its first step on; `overwrite: true` removes these and nothing else. The mark goes last.
RESULTS = (
    "plan.json",
    "trace.json",
    "log.jsonl",
    "metrics.json",
    "predictions.jsonl",
    "report.html",
    "skipped.jsonl",
    "vdl",
    "best",
    "bundle",
    "bundles",
    "checkpoints",
    "config.yaml",
)
# Of these what is made when training is over.
_LAST_RESULTS = ("trace.json", "metrics.json", "predictions.jsonl", "report.html", "skipped.jsonl", "bundle", "bundles")


class RunFolder:
    """Paths inside `output_dir`."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self.config = self.root / "config.yaml"
        self.plan = self.root / "plan.json"
        self.trace = self.root / "trace.json"
        self.log = self.root / "log.jsonl"
        self.text_log = self.root / "run.log"
        self.metrics = self.root / "metrics.json"
        self.predictions = self.root / "predictions.jsonl"
        self.report = self.root / "report.html"
        self.skipped = self.root / "skipped.jsonl"
        self.visualdl = self.root / "vdl"
        self.best = self.root / "best"
        self.bundle = self.root / "bundle"
        self.bundles = self.root / "bundles"  # of other formats and precisions
        self.checkpoints = self.root / "checkpoints"
        self.cache = self.root / "cache"

    def check_is_run(self) -> None:
        """RunError where no run has begun to train here."""
        if not _is_there(self.config):
            what = "is not a run folder: it has no config.yaml"
            raise RunError(str(self.root), what, "Give the output_dir of a run.")
        if not self.best.is_dir():
            what = "has no best/: the run ended before its first evaluation"
            raise RunError(str(self.root), what, "Run it again: it goes on.")

    def has_results(self) -> bool:
        """Whether an earlier run has left something here."""
        return bool(self._present())

    def is_run(self) -> bool:
        """Whether the files here are a run's own, so that a user who asks for it may have them replaced."""
        try:
            with open(self.config, "rb") as file:
                return file.readline(200).rstrip() == MARK.encode() and self.text_log.is_file()
        except OSError:
            return False

    def is_finished(self, *, with_bundle: bool) -> bool:
        """Whether a run here has come to its end."""
        files = (self.metrics, self.predictions, self.report)
        return all(map(_is_there, files)) and (not with_bundle or self.bundle.is_dir())

    def has_no_checkpoint(self) -> bool:
        """Whether a run has begun here and has come neither to a checkpoint nor to its end."""
        has_steps = self.checkpoints.is_dir() and any(self.checkpoints.glob("[!.]*"))
        return self.is_run() and not has_steps and not self.metrics.is_file()

    def prepare(self, *, overwrite: bool, inputs: Mapping[str, str]) -> None:
        """Make the folder; results of an earlier run stop us, unless `overwrite` says that they may go.

        Only a run's own results go, and never one of the `inputs` (paths by the key that names them).
        """
        present = self._present()
        if present and not overwrite:
            what = f"holds the results of an earlier run: {', '.join(present)}"
            raise RunError(str(self.root), what, "Choose another output_dir, or set overwrite=true to replace them.")
        if present and not self.is_run():
            what = f"holds {', '.join(present)}, and no run.log and config.yaml that show them to be a run's"
            raise RunError(str(self.root), what, "Choose another output_dir, or remove them yourself.")
        for key, path in inputs.items():
            self._check_is_kept(key, path, present)
        self.make()

    def make(self) -> None:
        """Make the folder where there is none; RunError where it cannot be written in."""
        with told_as_unwritable(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            if not os.access(self.root, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, "no right to write in this folder")

    def begin(self, config: str) -> None:
        """Remove the results of an earlier run and write config.yaml: settings, data and model have proved good."""
        self._clear()
        self._remove(self._present())
        write_text(self.config, f"{MARK}\n{config}")

    def go_on(self, config: str) -> None:
        """As `begin`, for a run that goes on: what it has made in training stays."""
        self._clear()
        self._remove([name for name in self._present() if name in _LAST_RESULTS])
        write_text(self.config, f"{MARK}\n{config}")

    def _clear(self) -> None:
        for folder in (self.best, self.bundle):
            clear_leftovers(folder)

    def _remove(self, names: Sequence[str]) -> None:
        with told_as_unwritable(self.root):
            for name in names:
                path = self.root / name
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def _present(self) -> list[str]:
        return [name for name in RESULTS if os.path.lexists(self.root / name)]

    def _check_is_kept(self, key: str, path: str, present: list[str]) -> None:
        for place, root in (
            (os.path.abspath(path), os.path.abspath(self.root)),
            (os.path.realpath(path), os.path.realpath(self.root)),
        ):
            if any(Path(place).is_relative_to(Path(root, name)) for name in present):
                what = f"is {path}, which overwrite=true would remove with the results in {self.root}"
                raise ConfigError(key, what, "Choose another output_dir, or copy the file elsewhere first.")


def _is_there(path: Path) -> bool:
    """As `is_file`; RunError where the folder may not be entered or the name is none."""
    try:
        return path.is_file()
    except OSError as error:
        raise RunError(str(path), f"cannot be read: {error.strerror}", "Check the name and the rights.") from error
