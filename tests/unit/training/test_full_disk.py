"""A full disk ends a run by one message, and the older model stays whole."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError

from ernie_pp.errors import RunError
from ernie_pp.training import model_folder, record
from ernie_pp.training.model_folder import save_model_folder
from ernie_pp.training.record import RunRecord

REPOSITORY = Path(__file__).resolve().parents[3]


def _save(folder, **changes):
    words = {"weights": {"a": np.ones(2, np.float32)}, "config": {}, "settings": {"step": 1}}
    save_model_folder(folder, **words, save_extras=changes.get("save_extras", lambda _: None))


@pytest.mark.parametrize("where", ["weights", "extras"])
def test_weights_that_find_no_room_leave_the_older_model(tmp_path, monkeypatch, where):
    _save(tmp_path / "best")
    before = {path.name: path.read_bytes() for path in (tmp_path / "best").iterdir()}

    def full(*_, **__):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    if where == "weights":
        monkeypatch.setattr(model_folder, "save_file", full)
    with pytest.raises(RunError, match=r"best\n  cannot be written: .*No space left"):
        _save(tmp_path / "best", save_extras=full)
    assert {path.name: path.read_bytes() for path in (tmp_path / "best").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


class _Full:
    """An open file, or VisualDL's writer, on a full disk."""

    def write(self, *_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    add_scalar = close = flush = write


@pytest.mark.parametrize("part", ["_file", "_scalars"])
def test_a_log_that_finds_no_room_ends_in_one_message(tmp_path, part):
    with (
        pytest.raises(RunError, match="cannot be written: No space left"),
        RunRecord(tmp_path / "log.jsonl", tmp_path / "vdl") as lines,
    ):
        setattr(lines, part, _Full())
        lines.write("train", 1, {"loss": 1.0})


def test_a_home_that_cannot_be_written_keeps_no_run_from_its_log(tmp_path):
    code = f"""
from pathlib import Path
from ernie_pp.training.record import RunRecord
with RunRecord(Path({str(tmp_path)!r}, "log.jsonl"), Path({str(tmp_path)!r}, "vdl")) as record:
    record.write("train", 1, {{"loss": 1.0}})
"""
    environment = {**os.environ, "HOME": "/proc/none"}
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=environment, cwd=REPOSITORY, check=True)
    assert list((tmp_path / "vdl").iterdir())


def test_a_log_that_cannot_be_opened_is_told(tmp_path, monkeypatch):
    with pytest.raises(RunError, match="cannot be written"):
        RunRecord(tmp_path / "none" / "log.jsonl", tmp_path / "vdl")
    monkeypatch.setattr(record, "_open_scalars", _Full().write)
    with pytest.raises(RunError, match="vdl\n  cannot be written"):
        RunRecord(tmp_path / "log.jsonl", tmp_path / "vdl")
