"""Whether the files in a checkpoint's folder are those that its manifest tells of."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open

from ernie_pp.durable import hash_file
from ernie_pp.errors import RunError
from ernie_pp.training.checkpoint.manifest import ADVICE, FileEntry, TensorEntry
from ernie_pp.training.checkpoint.names import MANIFEST
from ernie_pp.training.checkpoint.shards import DTYPES


def check_file(folder: Path, name: str, entry: FileEntry, *, is_hashed: bool) -> None:
    """RunError unless it is a regular file in the folder itself, of the size and, where asked for, the hash told."""
    if not _is_plain_name(name):
        what = f"names the file {name[:200]!a}, a plain name in the same folder was expected"
        raise RunError(str(folder / MANIFEST), what, "Do not use this checkpoint.")
    path = folder / name
    size = regular_size(path)
    if size != entry.bytes:
        raise RunError(str(path), f"has {size} bytes, {entry.bytes} were written", ADVICE)
    if is_hashed and _hash(path) != entry.sha256:
        raise RunError(str(path), "its sha256 differs from the one it was written with", ADVICE)


def regular_size(path: Path) -> int:
    """The bytes of a file; RunError where it is not there, or a link, folder, pipe or device."""
    try:
        status = os.lstat(path)
    except FileNotFoundError as error:
        raise RunError(str(path), "is not there: the checkpoint is not whole", ADVICE) from error
    except OSError as error:
        raise RunError(str(path), f"cannot be read: {error.strerror}", ADVICE) from error
    if not stat.S_ISREG(status.st_mode):
        raise RunError(str(path), "is a link, a folder or a device, a regular file was expected", ADVICE)
    return status.st_size


def check_header(path: Path, entries: Mapping[str, TensorEntry]) -> None:
    """RunError unless a file holds exactly these tensors, by its header; no tensor is read."""
    try:
        with safe_open(path, framework="numpy") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
            found = {name: (tuple(part.get_shape()), part.get_dtype()) for name, part in slices.items()}
    except (SafetensorError, OSError) as error:
        raise RunError(str(path), f"is no readable safetensors file: {error}", ADVICE) from error
    # A type that we never write may be one that NumPy cannot read.
    expected = {name: (entry.shape, DTYPES.get(entry.dtype, "of an unknown type")) for name, entry in entries.items()}
    for name in sorted(found.keys() | expected.keys()):
        if found.get(name) != expected.get(name):
            what = f"tensor {name} is {_said(found.get(name))}, the manifest says {_said(expected.get(name))}"
            raise RunError(str(path), what, ADVICE)


def _hash(path: Path) -> str:
    try:
        return hash_file(path)
    except OSError as error:
        raise RunError(str(path), f"cannot be read: {error.strerror}", ADVICE) from error


def _is_plain_name(name: str) -> bool:
    try:
        is_text = "\0" not in name and bool(name.encode("utf-8"))
    except UnicodeEncodeError:
        return False
    return is_text and name not in (".", "..") and Path(name).name == name


def _said(found: tuple[tuple[int, ...], str] | None) -> str:
    return "not there" if found is None else f"{found[1]} {list(found[0])}"
