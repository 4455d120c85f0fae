"""A full disk ends a run by one message, and the older model stays whole."""

import errno

import numpy as np
import pytest
from safetensors import SafetensorError

from ernie_pp.errors import RunError
from ernie_pp.training import checkpoint, record
from ernie_pp.training.checkpoint import save_model_folder
from ernie_pp.training.record import RunRecord


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
        monkeypatch.setattr(checkpoint, "save_file", full)
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
        RunRecord(tmp_path / "log.jsonl", tmp_path / "vdl", gpu=False) as lines,
    ):
        setattr(lines, part, _Full())
        lines.write("train", 1, {"loss": 1.0})


def test_a_log_that_cannot_be_opened_is_told(tmp_path, monkeypatch):
    with pytest.raises(RunError, match="cannot be written"):
        RunRecord(tmp_path / "none" / "log.jsonl", tmp_path / "vdl", gpu=False)
    monkeypatch.setattr(record, "_open_scalars", _Full().write)
    with pytest.raises(RunError, match="vdl\n  cannot be written"):
        RunRecord(tmp_path / "log.jsonl", tmp_path / "vdl", gpu=False)
