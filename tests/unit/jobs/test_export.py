"""Where an export may go."""

import shutil

import pytest

from ernie_pp.errors import RunError
from ernie_pp.jobs.export import ExportOptions, export


@pytest.fixture
def two_runs(small_run, tmp_path):
    return [str(shutil.copytree(small_run, tmp_path / name)) for name in ("a", "b")]


def test_the_bundle_of_another_run_is_not_replaced(two_runs, tmp_path):
    ours, other = two_runs
    (tmp_path / "link").symlink_to(f"{other}/bundle")
    for output in (f"{other}/bundle", str(tmp_path / "link")):
        with pytest.raises(RunError, match="is the bundle of another run"):
            export(ExportOptions(ours, output=output))


def test_an_empty_folder_and_the_runs_own_bundle_are_taken(two_runs, tmp_path):
    (tmp_path / "empty").mkdir()
    for output in (str(tmp_path / "empty"), f"{two_runs[0]}/bundle", str(tmp_path / "empty")):
        assert "rows checked" in export(ExportOptions(two_runs[0], output=output))


def test_a_place_that_cannot_be_is_told(two_runs):
    with pytest.raises(RunError, match="cannot be written"):
        export(ExportOptions(two_runs[0], output="x" * 300))


def test_a_home_that_cannot_be_written_is_no_hindrance(two_runs, monkeypatch):
    monkeypatch.setenv("HOME", "/proc/none")
    assert "rows checked" in export(ExportOptions(two_runs[0]))
