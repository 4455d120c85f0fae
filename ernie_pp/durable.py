"""Files and folders that appear whole or not at all: written under a temporary name, synced, renamed.

A reader sees the old one, the new one or, for a moment between the two renames of a folder, none; never a half.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from ernie_pp.errors import ErniePPError, RunError

_CHUNK_BYTES = 1 << 20
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_json(path: Path, values: object) -> None:
    """Write one JSON document so that a reader sees the old one or the new one, never a half."""
    write_text(path, json.dumps(values, ensure_ascii=False, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file, replacing an old one at once."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, replacing an old one at once."""
    with replaced_file(path) as temporary, told_as_unwritable(path):
        temporary.write_bytes(content)


@contextlib.contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Give a temporary path to write; when the block ends well the file is synced and takes the place of `path`.

    A link keeps its place: the file it names is replaced. RunError at once where `path` cannot be a file, and for
    what hinders the writing; any other error of the block passes through.
    """
    check_writable(path)
    path = Path(os.path.realpath(path))
    # Threads write at once too.
    name = path.name if len(path.name) < 60 else path.name[:50]  # a name has 255 bytes at most
    temporary = path.with_name(f".{name}.{os.getpid()}.{threading.get_native_id()}.tmp")
    try:
        with _told_where_it_is_about(temporary, path):
            yield temporary
        with told_as_unwritable(path):
            sync(temporary)
            os.replace(temporary, path)
            sync(path.parent)
    finally:
        with contextlib.suppress(OSError):  # a name too long for the system could not be made either
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def told_as_unwritable(output: Path | str) -> Iterator[None]:
    """RunError that names the output for every OSError of a block which does nothing but write it.

    A library that turns the system's "no room" into an error of its own is understood too.
    """
    # A broken pipe is a reader that has gone: nothing is wrong with the output.
    with _told(output, is_ours=lambda error: not isinstance(error, BrokenPipeError)):
        yield


def check_writable(path: Path) -> None:
    """RunError where a file of this name cannot be made: known before the work whose result it shall hold."""
    try:
        path = Path(os.path.realpath(path))
        with told_as_unwritable(path):
            kind = _kind_of(path)
    except ValueError as error:  # NUL, or not UTF-8
        raise _unwritable(path, str(error)) from error
    if kind is None and not path.parent.is_dir():
        raise RunError(str(path), f"cannot be written: there is no folder {path.parent}", "Make the folder first.")
    if kind not in (None, "a file"):
        raise RunError(str(path), f"cannot be written: it is {kind}", "Name a file.")
    if not os.access(path.parent, os.W_OK):
        raise RunError(str(path), f"cannot be written: no right to write in {path.parent}", "Check the rights.")


@contextlib.contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Give a temporary folder to fill; when the block ends well it is synced and takes the place of `folder`."""
    folder = Path(os.path.realpath(folder))
    temporary, old = leftovers(folder)
    clear_leftovers(folder)
    try:
        with told_as_unwritable(folder):
            temporary.mkdir(parents=True)
        with _told_where_it_is_about(temporary, folder):
            yield temporary
        with told_as_unwritable(folder):
            for path in temporary.rglob("*"):
                sync(path)
            sync(temporary)
            _swap_in(temporary, folder, old)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def sync(path: Path) -> None:
    """Return once a file's content, or a folder's names, are on the disk; OSError where they cannot be."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def hash_file(path: Path) -> str:
    """The sha256 of a file, in hexadecimal; OSError where it cannot be read."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def clear_leftovers(folder: Path) -> None:
    """Remove what a killed process has left beside a folder; the old one comes back where it had no successor yet."""
    temporary, old = leftovers(folder)
    with told_as_unwritable(folder):
        if old.exists() and not folder.exists():
            os.rename(old, folder)  # it died between the two renames of _swap_in
    for leftover in (temporary, old):
        shutil.rmtree(leftover, ignore_errors=True)


def leftovers(folder: Path) -> tuple[Path, Path]:
    """Where a killed process may have left a half of a new folder, and the old one."""
    return folder.with_name(f".{folder.name}.tmp"), folder.with_name(f".{folder.name}.old")


@contextlib.contextmanager
def _told_where_it_is_about(temporary: Path, output: Path) -> Iterator[None]:
    """As `told_as_unwritable` for a block that does other work too: what it says of other files is not ours."""

    def is_ours(error: OSError) -> bool:
        # Writing to an open file names none, and only writing runs out of room.
        if error.filename is None:
            return error.errno in _NO_ROOM
        return isinstance(error.filename, (str, os.PathLike)) and Path(error.filename).is_relative_to(temporary)

    with _told(output, is_ours=is_ours):
        yield


@contextlib.contextmanager
def _told(output: Path | str, *, is_ours: Callable[[OSError], bool]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if not is_ours(error):
            raise
        raise _unwritable(output, error.strerror or str(error)) from error
    except Exception as error:
        why = _no_room(error)
        if why is None:
            raise
        raise _unwritable(output, why) from error


def _unwritable(output: Path | str, why: str) -> RunError:
    return RunError(str(output), f"cannot be written: {why}", "Make room on the disk, or check the rights.")


def _no_room(error: Exception) -> str | None:
    """The system's words, where a library's own error (safetensors, Paddle) is its "no room"; else None."""
    if isinstance(error, ErniePPError):  # said well already, and of whatever it names
        return None
    said = str(error)
    numbers = (number for number in _NO_ROOM if os.strerror(number) in said or f"os error {number})" in said)
    return next(map(os.strerror, numbers), None)


def _kind_of(path: Path) -> str | None:
    """What stands under a name; None where nothing does."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a file" if stat.S_ISREG(mode) else "a device or pipe"


def _swap_in(temporary: Path, folder: Path, old: Path) -> None:
    try:
        if folder.exists():
            os.rename(folder, old)
        os.rename(temporary, folder)
    except BaseException:  # a stop signal too
        if old.exists() and not folder.exists():
            os.rename(old, folder)
        raise
    sync(folder.parent)
    shutil.rmtree(old, ignore_errors=True)
