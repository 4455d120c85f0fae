"""Tokenized rows on disk under the hash of all they were made from; a file that does not prove whole is remade."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ernie_pp.data.token_rows import TokenRows
from ernie_pp.durable import told_as_unwritable, write_bytes
from ernie_pp.errors import RunError

LOG = logging.getLogger("ernie_pp")
# To be raised when the meaning of the arrays changes.
FORMAT_VERSION = "2"
_KEY = re.compile(r"[0-9a-f]{64}")
_TYPES = {
    "ids": np.int32,
    "type_ids": np.int8,
    "row_starts": np.int64,
    "num_cut": np.int32,
    "example_index": np.int64,
    "offsets": np.int32,
}


def cache_key(parts: Mapping[str, object]) -> str:
    """Hash of everything the tokens depend on: fingerprints of files and tokenizer, settings (JSON values)."""
    text = json.dumps({"format": FORMAT_VERSION, **parts}, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def load_or_build(cache_dir: str | Path, key: str, build: Callable[[], TokenRows]) -> TokenRows:
    """The rows saved under the key, else those of `build`, which are saved for the next time.

    Processes may do this at once: each writes a file of its own and renames it; equal keys mean equal content.
    A cache that cannot be written costs time, not the run.
    """
    if not _KEY.fullmatch(key):
        raise ValueError(f"not a cache key: {key!r}")
    path = Path(cache_dir) / f"tokens-{key}.safetensors"
    if os.path.lexists(path):
        try:
            return _load(path, key=key)
        except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
            LOG.warning("%s is damaged or not ours (%s); the rows are tokenized again", path, error)
    rows = build()
    try:
        _save(rows, path, key=key)
    except RunError as error:
        LOG.warning("%s\n  The next run tokenizes again.", error)
    return rows


def _load(path: Path, *, key: str) -> TokenRows:
    if path.is_symlink() or not path.is_file():
        raise ValueError("not a regular file")
    with safe_open(str(path), framework="numpy") as opened:
        metadata = opened.metadata() or {}
        arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 (no mapping)
    if metadata.get("key") != key:
        raise ValueError("made for another key")
    if metadata.get("sha256") != _digest(arrays):
        raise ValueError("hash of the content differs")
    if arrays.keys() - _TYPES.keys() or any(array.dtype != _TYPES[name] for name, array in arrays.items()):
        raise ValueError("an array has another type")
    return TokenRows(**arrays)


def _save(rows: TokenRows, path: Path, *, key: str) -> None:
    found = {name: getattr(rows, name) for name in _TYPES}
    arrays = {n: np.ascontiguousarray(array, dtype=_TYPES[n]) for n, array in found.items() if array is not None}
    content = save(arrays, metadata={"key": key, "sha256": _digest(arrays)})
    with told_as_unwritable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            path.unlink()  # else the file it names would be replaced
    write_bytes(path, content)


def _digest(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()
