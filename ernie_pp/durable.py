"""Files and folders that appear whole or not at all: written under a temporary name, synced, renamed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ernie_pp.errors import RunError


def write_json(path: Path, values: object) -> None:
    """Write one JSON document so that a reader sees the old one or the new one, never a half."""
    write_text(path, json.dumps(values, ensure_ascii=False, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file, replacing an old one at once."""
    with replaced_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


@contextlib.contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Give a temporary path to write; when the block ends well the file is synced and takes the place of `path`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        _sync(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Give a temporary folder to fill; when the block ends well it is synced and takes the place of `folder`."""
    temporary, old = (folder.with_name(f".{folder.name}.{kind}") for kind in ("tmp", "old"))
    if old.exists() and not folder.exists():
        os.rename(old, folder)  # a process died between the two renames below
    for leftover in (temporary, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        temporary.mkdir(parents=True)
        yield temporary
        for path in temporary.rglob("*"):
            _sync(path)
        _sync(temporary)
        if folder.exists():
            os.rename(folder, old)
        os.rename(temporary, folder)
        _sync(folder.parent)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unwritable(path: Path, error: OSError) -> RunError:
    what = f"cannot be written: {error.strerror or error}"
    return RunError(str(path), what, "Make room on the disk, or check the rights.")
