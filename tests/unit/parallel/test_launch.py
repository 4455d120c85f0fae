"""The launcher with small stand-ins for ranks, when nothing goes wrong."""

import os
import stat

import pytest
import sample_run
import stand_in_ranks

from ernie_pp.parallel.launcher.launch import launch
from ernie_pp.parallel.launcher.rank_processes import Launch
from ernie_pp.parallel.topology import Grid


@pytest.fixture(autouse=True)
def _our_path(monkeypatch):
    for name, value in sample_run.environment().items():
        monkeypatch.setenv(name, value)


def test_ranks_that_all_end_well_are_a_run_that_ended_well(tmp_path):
    works = stand_in_ranks.command({1: "print('其他'); train(3)", 0: "train(3)", 2: "train(3)", 3: "train(3)"})
    launch(Launch(works, Grid(stages=2, replicas=2), tmp_path, threads=3))
    assert sorted(path.name for path in tmp_path.glob("rank-*")) == ["rank-1.log", "rank-2.log", "rank-3.log"]
    assert (tmp_path / "rank-1.log").read_text(encoding="utf-8") == "其他\n"


def test_each_rank_has_its_threads_and_no_terminal_to_read(tmp_path):
    work = "print(os.environ['OMP_NUM_THREADS'], os.getsid(0) == os.getpid(), repr(sys.stdin.read()))"
    launch(Launch(stand_in_ranks.command({1: work}), Grid(stages=2), tmp_path, threads=3))
    assert (tmp_path / "rank-1.log").read_text(encoding="utf-8") == "3 True ''\n"


def test_what_ranks_leave_is_for_the_user_alone_and_holds_no_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "hush-hush")
    folder, before = tmp_path / "runs" / "ranks", os.umask(0)
    try:
        stand_in_ranks.failed(folder, {0: "train(1); raise ValueError(1)", 1: "train(1); hang()"})
    finally:
        os.umask(before)
    files = [path for path in folder.iterdir() if path.name.startswith("rank-")]
    assert {path.suffix for path in files} >= {".log", ".json"}
    assert [path.name for path in files if stat.S_IMODE(path.stat().st_mode) != 0o600] == []
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path for path in folder.rglob("*") if b"hush-hush" in path.read_bytes()] == []
