"""What the tests of the data package share: reading a few bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.data.rows import Row
from ernie_pp.errors import DataError

Reader = Callable[..., list[Row]]
Refusal = Callable[..., str]


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    """Rows of a file with this name and these bytes."""

    def read_bytes(name: str, data: bytes | str, *, faults: Faults | None = None, **settings: object) -> list[Row]:
        path = tmp_path / name
        path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
        return list(read_rows(path, settings=ReadSettings(**settings), faults=faults or Faults()))  # type: ignore[arg-type]

    return read_bytes


@pytest.fixture
def refused(read: Reader, tmp_path: Path) -> Refusal:
    """The message that refuses such a file, with the folder left out; the exit code is that of a data error."""

    def refuse(name: str, data: bytes | str, **settings: object) -> str:
        with pytest.raises(DataError) as caught:
            read(name, data, **settings)
        assert caught.value.exit_code == 3
        return str(caught.value).replace(f"{tmp_path}/", "")

    return refuse
