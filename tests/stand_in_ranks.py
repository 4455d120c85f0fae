"""Small stand-ins for ranks, without Paddle: each does the work it is told, and otherwise waits as training does."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from ernie_pp.errors import RanksFailed
from ernie_pp.parallel.launcher.launch import launch
from ernie_pp.parallel.launcher.rank_processes import Launch
from ernie_pp.parallel.topology import Grid

RANK = """
import os, signal, socket, subprocess, sys, time
from pathlib import Path
from ernie_pp.errors import DataError, ErniePPError
from ernie_pp.parallel.beats import Beats, Phase, beat_path
from ernie_pp.parallel.child import follow_launcher, leave, leave_word, traceback_of
from ernie_pp.parallel.control import open_star
from ernie_pp.parallel.place import find_place

place = find_place(os.environ)
follow_launcher(place)
signal.signal(signal.SIGTERM, lambda *_: leave(143))
works = dict(word.split("=", 1) for word in sys.argv[1:])
def hang():
    while True: time.sleep(60)
def train(steps):
    beats.begin(Phase.TRAIN)
    for step in range(1, steps + 1):
        star.meet()
        beats.end_step(step)
try:
    exec(works.get("first", ""))
    star = open_star(place.rank, place.num_ranks, address=place.address, nonce=place.nonce, limit_s=20)
    star.meet()
    beats = Beats(beat_path(place.records, place.rank))
    Path(place.records, f"pid-{place.rank}").write_text(str(os.getpid()))
    exec(works.get(str(place.rank), ""))
    star.meet()
except ErniePPError as error:
    leave_word(place, code=error.exit_code, text=f"{type(error).__name__}: {error}", error=error)
    leave(error.exit_code)
except Exception as error:
    leave_word(place, code=1, text=traceback_of(error), error=error)
    leave(1)
"""
PARENT = """
import sys
from pathlib import Path
from ernie_pp import cli, verbs
from ernie_pp.parallel.launcher.launch import launch
from ernie_pp.parallel.launcher.rank_processes import Launch
from ernie_pp.parallel.topology import Grid
def train(arguments):
    stages, folder, grace_s, *command = sys.argv[1:]
    launch(Launch(command, Grid(stages=int(stages)), Path(folder), grace_s=float(grace_s)))
    return 0
cli.train = verbs.train = train
sys.exit(cli.main(["train"]))
"""
FOREVER = "\nhang()"
CHILD = "child = subprocess.Popen(['sleep', '1000']); Path(place.records, 'child').write_text(str(child.pid)); "


def command(works: Mapping[int | str, str]) -> list[str]:
    """What starts a rank: Python to run by rank; "first": on every rank before they join."""
    return [sys.executable, "-c", RANK, *(f"{rank}={work}" for rank, work in works.items())]


def run(folder: Path, works: Mapping[int | str, str], *, stages: int = 2, **limits: float) -> None:
    launch(Launch(command(works), Grid(stages=stages), folder, **{"grace_s": 2, **limits}))


def failed(folder: Path, works: Mapping[int | str, str], *, stages: int = 2, **limits: float) -> RanksFailed:
    """The failure of a run that must fail, once nobody is left of it."""
    with pytest.raises(RanksFailed) as caught:
        run(folder, works, stages=stages, **limits)
    assert_nobody_is_left(folder)
    return caught.value


def start_parent(folder: Path, works: Mapping[int | str, str], *, grace_s: float = 2) -> subprocess.Popen:
    """A launcher in a process of its own, as soon as its two ranks are at work and one of them has its child."""
    words = [sys.executable, "-c", PARENT, "2", str(folder), str(grace_s), *command(works)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    for name in ("pid-0", "pid-1", "child"):
        wait_for_file(folder / name, process)
    return process


def wait_for_file(path: Path, process: subprocess.Popen) -> None:
    """Return once the file has something in it; the process that brings it about must live."""
    deadline = time.monotonic() + 30
    while not (path.is_file() and path.read_text()):
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.01)


def assert_nobody_is_left(folder: Path) -> None:
    """No rank and no child of one lives."""
    pids = [int(path.read_text()) for path in (*folder.glob("pid-*"), *folder.glob("child"))]
    assert pids
    deadline = time.monotonic() + 10
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [pid for pid in pids if is_alive(pid)] == []


def is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    return False
