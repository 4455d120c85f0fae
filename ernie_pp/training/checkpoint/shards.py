"""The tensor files of a checkpoint: which of them a rank writes, and how one is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file

from ernie_pp.durable import hash_file, sync, told_as_unwritable
from ernie_pp.errors import RunError
from ernie_pp.parallel.engine import EngineState
from ernie_pp.parallel.world import World
from ernie_pp.training.checkpoint.manifest import FileEntry, TensorEntry
from ernie_pp.training.checkpoint.names import optimizer_file, weights_file

Kind = Literal["weights", "optimizer"]
# safetensors' name of a type, by NumPy's: what our weights and accumulators are of. uint16 holds Paddle's bfloat16.
DTYPES = {"float32": "F32", "float16": "F16", "float64": "F64", "uint16": "U16", "int64": "I64", "int32": "I32"}


@dataclass(frozen=True)
class Shard:
    """A file to write."""

    name: str
    kind: Kind
    arrays: Mapping[str, np.ndarray]

    @property
    def num_bytes(self) -> int:
        """Bytes of its tensors."""
        return sum(array.nbytes for array in self.arrays.values())


@dataclass(frozen=True)
class WrittenShard:
    """A file that is on the disk."""

    name: str
    kind: Kind
    file: FileEntry
    tensors: Mapping[str, TensorEntry]


def shards_of(state: EngineState, world: World, *, is_sharded: bool) -> list[Shard]:
    """What this rank writes of its state: the first replica its stage, and with `is_sharded` each its optimizer."""
    shards = []
    if world.replica == 0:
        shards.append(Shard(weights_file(world.stage), "weights", state.weights))
    if world.replica == 0 or is_sharded:
        name = optimizer_file(world.stage, replica=world.replica if is_sharded else None)
        shards.append(Shard(name, "optimizer", state.optimizer))
    return shards


def write_shard(folder: Path, shard: Shard) -> WrittenShard:
    """Write and sync one file into a folder that is there; RunError where that cannot be done."""
    path = folder / shard.name
    tensors = {
        name: TensorEntry(shard.name, array.shape, _known_dtype(path, name, array))
        for name, array in shard.arrays.items()
    }
    # It would write the elements of another order as they lie in memory.
    arrays = {name: np.asarray(array, order="C") for name, array in shard.arrays.items()}
    try:
        with told_as_unwritable(path):
            save_file(arrays, path, metadata={"format": "np"})
            sync(path)
            entry = FileEntry(path.stat().st_size, hash_file(path))
    except SafetensorError as error:
        raise RunError(str(path), f"cannot be written: {error}", "Check the disk and the rights.") from error
    return WrittenShard(shard.name, shard.kind, entry, tensors)


def _known_dtype(path: Path, name: str, array: np.ndarray) -> str:
    dtype = str(array.dtype)
    if dtype not in DTYPES:
        what = f"tensor {name} is of type {dtype}, one of {', '.join(DTYPES)} was expected"
        raise RunError(str(path), what, "Please report this: it is a fault of ernie_pp.")
    return dtype
