"""Small files read whole, never more of one than its limit; what is wrong with one is told in one way."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ernie_pp.errors import ErniePPError


def read_json(path: Path, *, max_bytes: int, error: type[ErniePPError], do: str = "") -> object:
    """The value of a JSON file; `error` with `do` where it cannot be read, is too large or is none."""
    return parse_json(read_text(path, max_bytes=max_bytes, error=error, do=do), path=path, error=error, do=do)


def parse_json(text: str | bytes, *, path: Path, error: type[ErniePPError], do: str = "") -> object:
    """The value of what was read from `path` already; `error` with `do` where it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise error(str(path), f"cannot be read as JSON: {fault}", do) from fault


def read_text(path: Path, *, max_bytes: int, error: type[ErniePPError], do: str = "") -> str:
    """The text of a UTF-8 file, without a byte order mark; a fault in it is named by its line."""
    content = read_bytes(path, max_bytes=max_bytes, error=error, do=do)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        # The position counts from behind the mark, in the bytes the error carries.
        line = fault.object.count(b"\n", 0, fault.start) + 1
        what = f"cannot be read: byte {fault.object[fault.start]:#04x} is not UTF-8"
        raise error(f"{path} line {line}", what, do or "Save the file as UTF-8.") from fault


def read_bytes(path: Path, *, max_bytes: int, error: type[ErniePPError], do: str = "") -> bytes:
    """All bytes of a file; `error` with `do` where it cannot be read or is too large."""
    try:
        # A pipe would be waited for without end.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            content = file.read(max_bytes + 1)
    except (OSError, ValueError) as fault:  # a name with NUL or not UTF-8 is a ValueError
        raise error(str(path), f"cannot be read: {getattr(fault, 'strerror', None) or fault}", do) from fault
    if len(content) > max_bytes:
        raise error(str(path), f"is larger than {max_bytes} bytes", do)
    return content
