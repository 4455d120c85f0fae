"""The last files of a checkpoint, written by rank 0 once every rank has written its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.durable import sync, told_as_unwritable
from ernie_pp.errors import RunError
from ernie_pp.machine.describe import describe_machine
from ernie_pp.training.checkpoint.manifest import (
    MAX_JSON_BYTES,
    FileEntry,
    Manifest,
    TensorEntry,
    encode_manifest,
)
from ernie_pp.training.checkpoint.names import MANIFEST, TRAINER
from ernie_pp.training.checkpoint.shards import Kind, WrittenShard

# Of the machine, not of what computes.
_NO_VERSIONS = ("cores", "memory")
_FAULT_OF_OURS = "Please report this: it is a fault of ernie_pp."


@dataclass(frozen=True)
class Contents:
    """What rank 0 adds to the arrays: where the loop stands, and the engine's own numbers."""

    step: int
    trainer: Mapping[str, object]
    scalars: Mapping[str, float]


@dataclass(frozen=True)
class Origin:
    """What every manifest of a run tells of it, by the manifest's own words."""

    grid: Mapping[str, object]
    run: Mapping[str, object]
    versions: Mapping[str, object]


def origin_of(grid: Mapping[str, object], run: Mapping[str, object]) -> Origin:
    """With the versions of this machine: looked up once, it takes as long as a small checkpoint."""
    versions = {name: text for name, text in describe_machine().items() if name not in _NO_VERSIONS}
    return Origin(grid, run, versions)


def finish(folder: Path, shards: Sequence[WrittenShard], contents: Contents, *, origin: Origin) -> None:
    """Write trainer.json and then the manifest over all files; RunError where a file that was told is not there."""
    for shard in shards:
        check_is_there(folder / shard.name, shard.file)
    trainer = _write_trainer(folder / TRAINER, contents)
    manifest = Manifest(
        step=contents.step,
        files={**{shard.name: shard.file for shard in shards}, TRAINER: trainer},
        weights=merge_tensors(shards, "weights"),
        optimizer=merge_tensors(shards, "optimizer"),
        grid=origin.grid,
        run=origin.run,
        versions=origin.versions,
    )
    _write_json(folder / MANIFEST, encode_manifest(manifest))


def merge_tensors(shards: Sequence[WrittenShard], kind: Kind) -> dict[str, TensorEntry]:
    """The tensors of all files of one kind; RunError where two files hold the same."""
    merged: dict[str, TensorEntry] = {}
    for shard in shards:
        for name, entry in shard.tensors.items() if shard.kind == kind else ():
            if name in merged:
                raise RunError(f"tensor {name}", f"is in {merged[name].file} and in {shard.name}", _FAULT_OF_OURS)
            merged[name] = entry
    return merged


def check_is_there(path: Path, entry: FileEntry) -> None:
    """RunError unless rank 0 sees the file that another rank has written."""
    size = path.stat().st_size if path.is_file() else None
    if size != entry.bytes:
        seen = "does not see it" if size is None else f"sees {size} bytes"
        what = f"a rank has written it with {entry.bytes} bytes, and rank 0 {seen}"
        raise RunError(str(path), what, "Put output_dir on a disk that all machines share.")


def _write_trainer(path: Path, contents: Contents) -> FileEntry:
    values = {"trainer": contents.trainer, "scalars": contents.scalars}
    content = f"{json.dumps(values, ensure_ascii=False, indent=1)}\n".encode()
    _write_json(path, content)
    return FileEntry(len(content), hashlib.sha256(content).hexdigest())


def _write_json(path: Path, content: bytes) -> None:
    if len(content) > MAX_JSON_BYTES:
        raise RunError(str(path), f"has {len(content)} bytes, and at most {MAX_JSON_BYTES} are read", _FAULT_OF_OURS)
    with told_as_unwritable(path):
        path.write_bytes(content)
        sync(path)
