"""What several of these tests start from."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sample_run


@pytest.fixture
def our_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that a test starts by our launcher find our package."""
    for name, value in sample_run.environment().items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def mount_small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes a folder with room for so much ("2m"); the test is skipped where it may not."""
    folder = tmp_path / "disk"
    with contextlib.ExitStack() as mounted:

        def mount(size: str) -> Path:
            folder.mkdir()
            words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
            with contextlib.suppress(FileNotFoundError):
                if subprocess.run(words, capture_output=True).returncode == 0:
                    mounted.callback(subprocess.run, ["umount", "-l", str(folder)], check=True)
                    return folder
            pytest.skip("needs the right to mount a file system")

        yield mount
