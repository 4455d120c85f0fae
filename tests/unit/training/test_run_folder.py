"""Whose files a run may replace: those of an earlier run, and nothing else."""

import os

import pytest

from ernie_pp.errors import ConfigError, RunError
from ernie_pp.training.run_folder import RunFolder


@pytest.fixture
def finished(tmp_path):
    """A folder that a run has written."""
    folder = RunFolder(tmp_path / "run")
    folder.prepare(overwrite=False, inputs={})
    folder.text_log.write_text("said\n", encoding="utf-8")
    folder.begin("task: cls\n")
    folder.best.mkdir()
    folder.predictions.write_text("{}\n", encoding="utf-8")
    return folder


def test_a_run_may_be_overwritten_where_it_is_asked_for(finished):
    with pytest.raises(RunError, match=r"earlier run: predictions\.jsonl, best, config\.yaml\n.*overwrite=true"):
        finished.prepare(overwrite=False, inputs={})
    finished.prepare(overwrite=True, inputs={"--config": "elsewhere.yaml"})
    assert finished.best.exists(), "nothing goes before the new run begins"
    finished.begin("task: cls\nseed: 2\n")
    assert sorted(path.name for path in finished.root.iterdir()) == ["config.yaml", "run.log"]


@pytest.mark.parametrize("name", ["best", "bundle", "config.yaml", "metrics.json"])
def test_files_of_the_users_own_are_never_replaced(tmp_path, name):
    (tmp_path / name).mkdir() if "." not in name else (tmp_path / name).write_text("task: cls\n", encoding="utf-8")
    (tmp_path / "run.log").write_text("mine", encoding="utf-8")
    with pytest.raises(RunError, match=f"holds {name}, and no run.log and config.yaml"):
        RunFolder(tmp_path).prepare(overwrite=True, inputs={})
    assert (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["predictions.jsonl", "best", "best/vocab.txt", "../run/config.yaml"])
@pytest.mark.parametrize("linked", [False, True])
def test_what_the_run_reads_is_not_removed_by_it(finished, tmp_path, name, linked):
    (tmp_path / "link").symlink_to(finished.root)
    root = tmp_path / "link" if linked else finished.root
    with pytest.raises(ConfigError, match=r"data\.train\n  is .* overwrite=true would remove"):
        finished.prepare(overwrite=True, inputs={"data.train": f"{root}/{name}"})


def test_a_folder_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for path in (tmp_path / "file", tmp_path / "file" / "run", tmp_path / ("x" * 300)):
        with pytest.raises(RunError, match="cannot be written"):
            RunFolder(path).prepare(overwrite=False, inputs={})
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(RunError, match="no right to write"):
        RunFolder(tmp_path / "new").prepare(overwrite=False, inputs={})
