"""Opening and reading a checkpoint, nothing in it believed before it was checked."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from ernie_pp.bounded import read_json
from ernie_pp.errors import RunError
from ernie_pp.training.checkpoint.inspect_files import check_file, check_header, regular_size
from ernie_pp.training.checkpoint.manifest import ADVICE, MAX_JSON_BYTES, Manifest, TensorEntry, read_manifest
from ernie_pp.training.checkpoint.names import MANIFEST, SUFFIX, TRAINER

Shapes = Mapping[str, tuple[int, ...]]
_OTHER_MODEL = "Go on with the model that the checkpoint was written for, or begin anew."


@dataclass(frozen=True)
class Checkpoint:
    """A folder that was found whole; `digest` is the sha256 of its manifest's file."""

    folder: Path
    manifest: Manifest
    digest: str

    def trainer(self) -> dict[str, Any]:
        """What the loop gave to be saved."""
        return self._section("trainer")

    def scalars(self) -> dict[str, float]:
        """The engine's own numbers, such as the loss scale."""
        return self._section("scalars")

    def read_weights(self, shapes: Shapes) -> dict[str, np.ndarray]:
        """Exactly these tensors; RunError where one is missing or has another shape. Nothing else is read."""
        for name, shape in shapes.items():
            self._check_shape(name, shape)
        return self._read({name: self.manifest.weights[name] for name in shapes})

    def read_optimizer(self, owners: Collection[str]) -> dict[str, np.ndarray]:
        """All entries `<canonical name>.<accumulator>` of the parameters `owners`; nothing else is read."""
        wanted = set(owners)
        entries = self.manifest.optimizer.items()
        return self._read({name: entry for name, entry in entries if name.rpartition(".")[0] in wanted})

    def check_names(self, shapes: Shapes) -> None:
        """RunError unless the weights are exactly those of a whole model, and the optimizer's entries belong to it."""
        for name, shape in shapes.items():
            self._check_shape(name, shape)
        for name, entry in self.manifest.weights.items():
            if name not in shapes:
                raise self._wrong(entry, f"tensor {name} belongs to no parameter of this model")
        for name, entry in self.manifest.optimizer.items():
            if name.rpartition(".")[0] not in shapes:
                raise self._wrong(entry, f"optimizer state {name} belongs to no parameter of this model")

    def _check_shape(self, name: str, shape: tuple[int, ...]) -> None:
        entry = self.manifest.weights.get(name)
        if entry is None:
            raise RunError(str(self.folder / MANIFEST), f"the checkpoint has no tensor {name}", _OTHER_MODEL)
        if entry.shape != tuple(shape):
            raise self._wrong(entry, f"tensor {name} has shape {list(entry.shape)}, the model's is {list(shape)}")

    def _wrong(self, entry: TensorEntry, what: str) -> RunError:
        return RunError(str(self.folder / entry.file), what, _OTHER_MODEL)

    def _section(self, name: str) -> dict[str, Any]:
        path = self.folder / TRAINER
        values = read_json(path, max_bytes=MAX_JSON_BYTES, error=RunError, do=ADVICE)
        if not isinstance(values, dict) or not isinstance(values.get(name), dict):
            raise RunError(str(path), f'has no object "{name}"', ADVICE)
        return values[name]

    def _read(self, entries: Mapping[str, TensorEntry]) -> dict[str, np.ndarray]:
        arrays = {}
        for file_name in sorted({entry.file for entry in entries.values()}):
            names = [name for name, entry in entries.items() if entry.file == file_name]
            arrays.update(_read_tensors(self.folder / file_name, names))
        return {name: arrays[name] for name in entries}


def open_checkpoint(folder: Path, *, verify: bool = True) -> Checkpoint:
    """A checkpoint whose files are all there as its manifest says; RunError that says why not.

    Without `verify` the tensor files are not hashed: names, sizes and headers are compared still.
    """
    if not os.path.isdir(folder):
        raise RunError(str(folder), "is not there, or no folder", "Give the folder of a checkpoint.")
    regular_size(folder / MANIFEST)
    manifest, digest = read_manifest(folder / MANIFEST)
    if TRAINER not in manifest.files:
        raise RunError(str(folder / MANIFEST), f"does not list {TRAINER}", ADVICE)
    for name, entry in manifest.files.items():
        check_file(folder, name, entry, is_hashed=verify or not name.endswith(SUFFIX))
    for name, entries in _tensors_by_file(folder, manifest).items():
        check_header(folder / name, entries)
    return Checkpoint(folder, manifest, digest)


def _tensors_by_file(folder: Path, manifest: Manifest) -> dict[str, dict[str, TensorEntry]]:
    tensors: dict[str, dict[str, TensorEntry]] = {name: {} for name in manifest.files if name.endswith(SUFFIX)}
    for name, entry in (*manifest.weights.items(), *manifest.optimizer.items()):
        if entry.file not in tensors:
            what = f"says that tensor {name} is in {entry.file!a}, which it does not list"
            raise RunError(str(folder / MANIFEST), what, ADVICE)
        tensors[entry.file][name] = entry
    return tensors


def _read_tensors(path: Path, names: Collection[str]) -> dict[str, np.ndarray]:
    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in names}
    except (SafetensorError, OSError) as error:
        raise RunError(str(path), f"cannot be read: {error}", ADVICE) from error
