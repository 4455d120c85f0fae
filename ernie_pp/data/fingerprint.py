"""Hashes of what was read: an edited file is seen whatever its time and size say."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ernie_pp.errors import DataError

_BLOCK_BYTES = 1 << 20


def file_fingerprint(path: str | Path) -> str:
    """SHA-256 of a file's bytes; of a folder (a saved dataset): of all names and bytes in it."""
    path = Path(path)
    digest = hashlib.sha256()
    try:
        if path.is_dir():
            for file in sorted(one for one in path.rglob("*") if one.is_file()):
                digest.update(f"{file.relative_to(path).as_posix()}\0{file.stat().st_size}\0".encode())
                _add_bytes(digest, file)
        else:
            _add_bytes(digest, path)
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}", "Correct the path in the config.") from error
    return digest.hexdigest()


def _add_bytes(digest: hashlib._Hash, path: Path) -> None:
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
