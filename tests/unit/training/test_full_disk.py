"""A full disk ends a run by one message, and the older model stays whole."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError

from ernie_pp.errors import RunError
from ernie_pp.training import model_folder, record, waiting_lines
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


def _full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_log_lines_wait_while_there_is_no_room(tmp_path, monkeypatch, caplog):
    with RunRecord(tmp_path / "log.jsonl", tmp_path / "vdl") as lines:
        lines.write("train", 1, {"loss": 1.0})
        with monkeypatch.context() as full:
            full.setattr(waiting_lines.os, "write", _full)
            lines.write("train", 2, {"loss": 2.0})
            lines.write("train", 3, {"loss": 3.0})
        lines.write("train", 4, {"loss": 4.0})
    found = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert found == lines.history and [line["step"] for line in found] == [1, 2, 3, 4]
    assert caplog.text.count("log.jsonl cannot be written: No space left on device; its lines wait") == 1


def test_half_a_line_that_found_room_is_made_whole_later(tmp_path, monkeypatch):
    lines, write = waiting_lines.WaitingLines(tmp_path / "log"), os.write
    answers = iter([lambda *given: write(given[0], given[1][:3]), _full])
    with monkeypatch.context() as full:
        full.setattr(waiting_lines.os, "write", lambda *given: next(answers)(*given))
        lines.write("first\n")
    lines.write("second\n")
    lines.close()
    assert (tmp_path / "log").read_text(encoding="utf-8") == "first\nsecond\n"


def test_scalars_that_find_no_room_are_done_without(tmp_path, caplog):
    class Full:
        add_scalar = close = _full

    with RunRecord(tmp_path / "log.jsonl", tmp_path / "vdl") as lines:
        lines._scalars = Full()
        for step in (1, 2):
            lines.write("train", step, {"loss": 1.0})
    assert caplog.text.count("VisualDL's log cannot be written: No space left") == 1
    assert len((tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()) == 2


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
    monkeypatch.setattr(record, "_open_scalars", _full)
    with pytest.raises(RunError, match="vdl\n  cannot be written"):
        RunRecord(tmp_path / "log.jsonl", tmp_path / "vdl")
