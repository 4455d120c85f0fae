"""What a checkpoint says of itself: every file with its size and sha256, and every tensor with its file and shape."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from ernie_pp.bounded import parse_json, read_bytes
from ernie_pp.errors import RunError

FORMAT = 1
# Of the manifest and of trainer.json each. A model of a thousand layers is far below.
MAX_JSON_BYTES = 16_000_000
ADVICE = "Use another checkpoint."
_Entry = TypeVar("_Entry")


@dataclass(frozen=True)
class FileEntry:
    """A file of the checkpoint's folder."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class TensorEntry:
    """The file that a tensor is in, its shape and NumPy's name of its type."""

    file: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Manifest:
    """`grid` and `versions` say how it was written; `run` says which run this is: settings, data, whatever it gave."""

    step: int
    files: Mapping[str, FileEntry]
    weights: Mapping[str, TensorEntry]
    optimizer: Mapping[str, TensorEntry]
    grid: Mapping[str, object]
    run: Mapping[str, object]
    versions: Mapping[str, object]


def encode_manifest(manifest: Manifest) -> bytes:
    """The content of its file."""
    values = asdict(manifest)
    tensors = {"weights": values.pop("weights"), "optimizer": values.pop("optimizer")}
    text = json.dumps({"format": FORMAT, **values, "tensors": tensors}, ensure_ascii=False, indent=1)
    return f"{text}\n".encode()


def read_manifest(path: Path) -> tuple[Manifest, str]:
    """The manifest and the sha256 of its file; RunError where it is none."""
    content = read_bytes(path, max_bytes=MAX_JSON_BYTES, error=RunError, do=ADVICE)
    values: Any = parse_json(content, path=path, error=RunError, do=ADVICE)
    try:
        manifest = decode_manifest(values)
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(str(path), f"is no manifest of a checkpoint: {_said(error)}", ADVICE) from error
    return manifest, hashlib.sha256(content).hexdigest()


def decode_manifest(values: Any) -> Manifest:
    """From what JSON gave; KeyError, TypeError or ValueError where it is not what `encode_manifest` makes."""
    if not isinstance(values, dict) or values["format"] != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    tensors = _mapping(values["tensors"])
    return Manifest(
        step=_number(values["step"]),
        files=_entries(values["files"], _file_entry),
        weights=decode_tensors(tensors["weights"]),
        optimizer=decode_tensors(tensors["optimizer"]),
        grid=_mapping(values["grid"]),
        run=_mapping(values["run"]),
        versions=_mapping(values["versions"]),
    )


def decode_tensors(values: Any) -> dict[str, TensorEntry]:
    """Tensors by name, from what JSON gave; errors as `decode_manifest`."""
    for name in _mapping(values):
        if not name.isprintable():
            raise ValueError(f"{name!a} is no name of a tensor")
    return _entries(values, _tensor_entry)


def _entries(values: Any, entry: Callable[[dict[str, Any]], _Entry]) -> dict[str, _Entry]:
    return {name: entry(_mapping(value)) for name, value in _mapping(values).items()}


def _file_entry(value: dict[str, Any]) -> FileEntry:
    return FileEntry(_number(value["bytes"]), _text(value["sha256"]))


def _tensor_entry(value: dict[str, Any]) -> TensorEntry:
    if not isinstance(value["shape"], list):
        raise TypeError(f"{str(value['shape'])[:60]!a} is no shape")
    return TensorEntry(_text(value["file"]), tuple(map(_number, value["shape"])), _text(value["dtype"]))


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{str(value)[:60]!a} is no JSON object")
    return value


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise TypeError(f"{str(value)[:60]!a} is no number of something")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:60]!a} is no text")
    return value


def _said(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)
