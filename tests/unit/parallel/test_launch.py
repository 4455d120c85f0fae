"""The launcher with small stand-ins for ranks: the true cause is told, its code returned, and nobody is left."""

import contextlib
import signal
import subprocess
import sys
import time

import pytest
import sample_run

from ernie_pp.errors import RanksFailed
from ernie_pp.parallel.launcher.launch import Launch, launch
from ernie_pp.parallel.rank_record import read_record
from ernie_pp.parallel.topology import Grid

# A rank does its argument's work for its number, and otherwise waits for the others as training does.
RANK = """
import os, signal, subprocess, sys, time
from pathlib import Path
from ernie_pp.errors import DataError, ErniePPError
from ernie_pp.parallel.child import follow_launcher, leave, leave_word, traceback_of
from ernie_pp.parallel.control import open_star
from ernie_pp.parallel.place import find_place

place = find_place(os.environ)
follow_launcher(place)
signal.signal(signal.SIGTERM, lambda *_: leave(143))
star = open_star(place.rank, place.num_ranks, address=place.address, nonce=place.nonce, limit_s=20)
works = dict(word.split("=", 1) for word in sys.argv[1:])
try:
    star.meet()
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
FOREVER = "\nwhile True: time.sleep(60)"
CHILD = "child = subprocess.Popen(['sleep', '1000']); Path(place.records, 'child').write_text(str(child.pid)); "
PARENT = """
import sys
from pathlib import Path
from ernie_pp import cli
from ernie_pp.parallel.launcher.launch import Launch, launch
from ernie_pp.parallel.topology import Grid
def train(arguments):
    stages, folder, *command = sys.argv[1:]
    launch(Launch(command, Grid(stages=int(stages)), Path(folder), grace_s=2))
    return 0
cli._train = train
sys.exit(cli.main(["train"]))
"""


def _command(works):
    return [sys.executable, "-c", RANK, *(f"{rank}={work}" for rank, work in works.items())]


@pytest.fixture(autouse=True)
def _our_path(monkeypatch):
    for name, value in sample_run.environment().items():
        monkeypatch.setenv(name, value)


def _failed(tmp_path, works, *, stages=2):
    with pytest.raises(RanksFailed) as caught:
        launch(Launch(_command(works), Grid(stages=stages), tmp_path, grace_s=2))
    _assert_nobody_is_left(tmp_path)
    return caught.value


def _is_alive(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    return False


def _assert_nobody_is_left(folder):
    pids = [int(path.read_text()) for path in (*folder.glob("pid-*"), *folder.glob("child"))]
    assert pids
    deadline = time.monotonic() + 10
    while any(map(_is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [pid for pid in pids if _is_alive(pid)] == []


def test_ranks_that_all_end_well_are_a_run_that_ended_well(tmp_path):
    launch(Launch(_command({1: "print('其他')"}), Grid(stages=2, replicas=2), tmp_path, threads=3))
    assert sorted(path.name for path in tmp_path.glob("rank-*")) == ["rank-1.log", "rank-2.log", "rank-3.log"]
    assert (tmp_path / "rank-1.log").read_text(encoding="utf-8") == "其他\n"


def test_each_rank_has_its_threads_and_no_terminal_to_read(tmp_path):
    work = "print(os.environ['OMP_NUM_THREADS'], os.getsid(0) == os.getpid(), repr(sys.stdin.read()))"
    launch(Launch(_command({1: work}), Grid(stages=2), tmp_path, threads=3))
    assert (tmp_path / "rank-1.log").read_text(encoding="utf-8") == "3 True ''\n"


def test_the_rank_that_raises_is_told_first_with_its_traceback_and_not_the_ones_that_lost_it(tmp_path):
    error = _failed(tmp_path, {2: "raise ValueError('boom at step 2')"}, stages=4)
    (message,) = error.messages
    assert message.startswith("Traceback (most recent call last):") and message.endswith("ValueError: boom at step 2")
    assert str(error) == f"rank 2 (stage 2, replica 0) failed first (exit code 1); its output: {tmp_path}/rank-2.log"
    assert error.exit_code == 1
    assert "boom at step 2" in (tmp_path / "rank-2.log").read_text(encoding="utf-8")


@pytest.mark.parametrize("rank", [0, 1])
def test_an_error_of_ours_keeps_its_words_and_its_code(tmp_path, rank):
    error = _failed(tmp_path, {rank: "raise DataError('train.jsonl line 3', 'no label')"})
    assert error.messages == ("DataError: train.jsonl line 3\n  no label",)
    assert f"rank {rank} (stage {rank}, replica 0) failed first (exit code 3)" in str(error)
    assert error.exit_code == 3


def test_every_rank_that_raises_by_itself_is_shown(tmp_path):
    later = "\nwhile not Path(place.records, 'rank-1.json').exists(): time.sleep(0.01)\nraise KeyError('second')"
    error = _failed(tmp_path, {0: later, 1: "raise ValueError('first')"})
    first, second = error.messages
    assert "ValueError: first" in first and "KeyError: 'second'" in second
    assert "rank 1 (stage 1, replica 0) failed first" in str(error)


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("number, code", [(signal.SIGKILL, 137), (signal.SIGSEGV, 139)])
def test_a_killed_rank_is_named_with_its_signal(tmp_path, rank, number, code):
    error = _failed(tmp_path, {rank: f"os.kill(os.getpid(), {int(number)})"})
    assert f"rank {rank} (stage {rank}, replica 0) was killed by {number.name}" in str(error)
    assert (error.exit_code, error.messages) == (code, ())


def test_what_a_crashed_rank_said_last_is_shown(tmp_path):
    error = _failed(tmp_path, {1: "os.write(2, b'C++ stack'); os.kill(os.getpid(), 6)"})
    assert error.messages[0] == "C++ stack" and "was killed by SIGABRT" in str(error) and error.exit_code == 134


def test_a_code_without_a_word_is_that_ranks_own(tmp_path):
    error = _failed(tmp_path, {1: "leave(5)"})
    assert "rank 1 (stage 1, replica 0) ended with exit code 5 and said nothing" in str(error)
    assert error.exit_code == 5


def test_a_rank_that_leaves_with_0_while_it_is_needed_is_told_as_such(tmp_path):
    error = _failed(tmp_path, {1: "leave(0)"}, stages=3)
    assert "rank 1 (stage 1, replica 0) ended (exit code 0) while the other ranks still needed it" in str(error)
    assert (error.exit_code, error.messages) == (1, ())


def test_a_rank_that_hears_nothing_is_ended_with_the_others(tmp_path):
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); " + FOREVER
    start = time.monotonic()
    error = _failed(tmp_path, {0: deaf, 1: "star.gather(b''); leave(4)"})
    assert error.exit_code == 4 and time.monotonic() - start < 10


def test_a_stopped_rank_does_not_keep_the_others(tmp_path):
    error = _failed(tmp_path, {0: "os.kill(os.getpid(), signal.SIGSTOP)", 1: "leave(4)"})
    assert error.exit_code == 4


def test_children_of_a_failed_rank_end_with_it(tmp_path):
    assert _failed(tmp_path, {1: CHILD + "leave(9)"}).exit_code == 9
    assert (tmp_path / "child").is_file()


def _start_parent(tmp_path, works):
    words = [sys.executable, "-c", PARENT, "2", str(tmp_path), *_command(works)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 30
    while not all(
        (tmp_path / name).is_file() and (tmp_path / name).read_text() for name in ("pid-0", "pid-1", "child")
    ):
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_stop_signal_to_the_parent_ends_all(tmp_path, number, code):
    process = _start_parent(tmp_path, {0: CHILD + FOREVER, 1: FOREVER})
    process.send_signal(number)
    errors = process.communicate(timeout=20)[1]
    assert process.returncode == code
    assert "stopped" in errors and "Traceback" not in errors and "rank" not in errors
    _assert_nobody_is_left(tmp_path)


def test_a_second_interrupt_ends_the_waiting(tmp_path):
    deaf = "signal.signal(signal.SIGTERM, lambda *_: Path(place.records, 'asked').touch()); " + CHILD + FOREVER
    process = _start_parent(tmp_path, {0: deaf, 1: FOREVER})
    process.send_signal(signal.SIGINT)
    while not (tmp_path / "asked").exists():
        time.sleep(0.01)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130 and time.monotonic() - start < 1.5
    _assert_nobody_is_left(tmp_path)


def test_a_killed_parent_leaves_nobody(tmp_path):
    process = _start_parent(tmp_path, {0: CHILD + FOREVER, 1: FOREVER})
    process.kill()
    process.communicate()
    _assert_nobody_is_left(tmp_path)


def test_a_rank_that_only_lost_another_says_nothing_on_the_screen(tmp_path):
    work = f"os.kill(os.getpid(), {int(signal.SIGKILL)})"
    words = [sys.executable, "-c", PARENT, "2", str(tmp_path), *_command({1: work})]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (137, "")
    assert done.stderr.startswith("rank 1 (stage 1, replica 0) was killed by SIGKILL") and done.stderr.count("\n") == 1
    record = read_record(tmp_path, 0)
    assert record is not None and record.is_secondary and record.code == 75
