"""The tensors of a model folder, checked by name and shape against what its config implies."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from ernie_pp.bounded import read_json
from ernie_pp.errors import ModelError
from ernie_pp.models.pickle_reader import read_plain_pickle
from ernie_pp.models.sizes import Shapes

SAFETENSORS = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLE = "model_state.pdparams"
_READ_TYPES = ("F32", "F16", "F64")  # numpy has no name for some of the others
_MAX_INDEX_BYTES = 10_000_000
_MAX_PICKLE_OVERHEAD = 1_000_000
_MAX_NAME_BYTES = 255  # of one name, on every usual file system


@dataclass(frozen=True)
class Weights:
    """What was read: float32 arrays by canonical name, and the names that did not match the config."""

    arrays: Mapping[str, np.ndarray]
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()


def read_weights(folder: Path, *, shapes: Shapes, optional: Shapes, allow_pickle: bool) -> Weights:
    """The tensors named in `shapes` and, where the folder has them, in `optional`.

    A tensor of another shape, or a name of `shapes` that is not there, is a ModelError. Names of `optional` that are
    not there are listed as missing, names in neither as unexpected; nothing unexpected is read from a safetensors.
    """
    wanted = {**shapes, **optional}
    if (folder / SAFETENSORS).is_file():
        arrays, found = _read_safetensors(folder / SAFETENSORS, wanted)
    elif (folder / INDEX).is_file():
        arrays, found = _read_sharded(folder, wanted)
    else:
        arrays, found = _read_pickle(folder, wanted, allow_pickle=allow_pickle)
    missing = tuple(name for name in wanted if name not in arrays)
    _check_missing(folder, [name for name in missing if name in shapes], num_wanted=len(shapes))
    return Weights(arrays, missing, tuple(sorted(found - set(wanted))))


def canonical_name(name: str) -> str:
    """Encoder tensors of a bare ErnieModel lack the `ernie.` that the same tensors have inside a task model."""
    is_bare = name.split(".")[0] in ("embeddings", "encoder", "pooler")
    return f"ernie.{name}" if is_bare else name


def _read_safetensors(path: Path, wanted: Shapes) -> tuple[dict[str, np.ndarray], set[str]]:
    arrays = {}
    try:
        with safe_open(path, framework="numpy") as file:
            names = {canonical_name(name): name for name in file.keys()}  # noqa: SIM118 (not a dict)
            for name in wanted:
                if name in names:
                    # The header is compared before the tensor is read into memory.
                    header = file.get_slice(names[name])
                    _check_shape(path, name, tuple(header.get_shape()), wanted[name])
                    if header.get_dtype() not in _READ_TYPES:
                        raise _wrong_type(path, name, header.get_dtype())
                    arrays[name] = _float32(path, name, file.get_tensor(names[name]))
    except (SafetensorError, OSError, TypeError) as error:
        raise ModelError(str(path), f"not a readable safetensors file: {error}", "Get the file again.") from error
    return arrays, set(names)


def _read_sharded(folder: Path, wanted: Shapes) -> tuple[dict[str, np.ndarray], set[str]]:
    arrays: dict[str, np.ndarray] = {}
    found: set[str] = set()
    for file_name in _shard_names(folder / INDEX):
        shard_arrays, shard_found = _read_safetensors(folder / file_name, wanted)
        arrays.update(shard_arrays)
        found |= shard_found
    return arrays, found


def _shard_names(path: Path) -> list[str]:
    """The files an index names, each a plain name inside the index's own folder."""
    index: Any = read_json(path, max_bytes=_MAX_INDEX_BYTES, error=ModelError, do="Get the file again.")
    try:
        names = sorted(set(index["weight_map"].values()))
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelError(str(path), f"not a readable index: {error!r}", "Get the file again.") from error
    for name in names:
        if not isinstance(name, str) or not _is_plain_name(name) or _is_odd_file(path.parent / name):
            what = f"names the file {str(name)[:200]!a}, a plain file in the same folder was expected"
            raise ModelError(str(path), what, "Do not use this model.")
    return names


def _is_odd_file(path: Path) -> bool:
    """Whether a link, which may lead anywhere, or a pipe, which is waited for without end, stands there."""
    return path.is_symlink() or (os.path.lexists(path) and not path.is_file())


def _is_plain_name(name: str) -> bool:
    """Whether it names a file of the same folder, as far as the system takes it for a name at all."""
    try:
        return Path(name).name == name and "\0" not in name and 0 < len(name.encode("utf-8")) <= _MAX_NAME_BYTES
    except UnicodeEncodeError:
        return False


def _read_pickle(folder: Path, wanted: Shapes, *, allow_pickle: bool) -> tuple[dict[str, np.ndarray], set[str]]:
    path = folder / PICKLE
    if not path.is_file():
        what = f"holds neither {SAFETENSORS} nor {PICKLE}"
        raise ModelError(str(folder), what, "Give the folder of a PaddleNLP model.")
    if not allow_pickle:
        raise ModelError(
            str(path),
            "is a pickle file, which is not read unless asked for",
            "Set model.allow_pickle: true (it is read without running code), or convert it to model.safetensors.",
        )
    arrays_by_name = read_plain_pickle(path, max_bytes=_most_pickle_bytes(wanted))
    content = {canonical_name(name): array for name, array in arrays_by_name.items()}
    arrays = {}
    for name in wanted:
        if name in content:
            _check_shape(path, name, content[name].shape, wanted[name])
            arrays[name] = _float32(path, name, content[name])
    return arrays, set(content)


def _most_pickle_bytes(wanted: Shapes) -> int:
    """What a file of the wanted tensors may have in float64, doubled for the heads of other tasks."""
    return _MAX_PICKLE_OVERHEAD + 2 * 8 * sum(math.prod(shape) for shape in wanted.values())


def _check_shape(path: Path, name: str, found: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if found != expected:
        raise ModelError(
            str(path),
            f"tensor {name} has shape {list(found)}, config.json implies {list(expected)}",
            "The two files are of different models: get both from the same place.",
        )


def _float32(path: Path, name: str, array: np.ndarray) -> np.ndarray:
    if array.dtype not in (np.float32, np.float16, np.float64):
        raise _wrong_type(path, name, str(array.dtype))
    array = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(array).all():
        raise ModelError(str(path), f"tensor {name} holds NaN or infinite values", "Get the file again.")
    return array


def _wrong_type(path: Path, name: str, found: str) -> ModelError:
    what = f"tensor {name} is of type {found}, float32 was expected"
    return ModelError(str(path), what, "Convert the file to float32.")


def _check_missing(folder: Path, missing: list[str], *, num_wanted: int) -> None:
    if missing:
        raise ModelError(
            str(folder),
            f"{len(missing)} of {num_wanted} tensors are not there, the first is {missing[0]}",
            "Check that config.json and the weights are of the same model.",
        )
