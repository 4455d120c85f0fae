"""A run of several processes that is hit: the true cause is told, its code returned, and nobody is left."""

import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sample_run
from grid_run import GridRun
from injection import at_micro_batch, write_injection
from stand_in_ranks import (
    CHILD,
    FOREVER,
    PARENT,
    assert_nobody_is_left,
    command,
    failed,
    start_parent,
    wait_for_file,
)

from ernie_pp.parallel.rank_record import read_record
from ernie_pp.parallel.stacks import stack_path

pytestmark = pytest.mark.usefixtures("our_path")
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN); "


@pytest.mark.parametrize("stages, rank", [(2, 1), (4, 0), (4, 2)])
def test_the_rank_that_raises_is_told_first_with_its_traceback_and_not_the_ones_that_lost_it(tmp_path, stages, rank):
    start = time.monotonic()
    works = dict.fromkeys(range(stages), "train(5)") | {rank: "train(2); raise ValueError('boom at step 2')"}
    error = failed(tmp_path, works, stages=stages)
    (message,) = error.messages
    assert message.startswith("Traceback (most recent call last):") and message.endswith("ValueError: boom at step 2")
    assert str(error).startswith(f"rank {rank} (stage {rank}, replica 0) failed first (exit code 1)")
    assert error.exit_code == 1 and time.monotonic() - start < 5
    if rank:
        assert str(error).endswith(f"; its output: {tmp_path}/rank-{rank}.log")
        assert "boom at step 2" in (tmp_path / f"rank-{rank}.log").read_text(encoding="utf-8")


@pytest.mark.parametrize("rank", [0, 1])
def test_an_error_of_ours_keeps_its_words_and_its_code(tmp_path, rank):
    error = failed(tmp_path, {rank: "raise DataError('train.jsonl line 3', 'no label')"})
    assert error.messages == ("DataError: train.jsonl line 3\n  no label",)
    assert f"rank {rank} (stage {rank}, replica 0) failed first (exit code 3)" in str(error)
    assert error.exit_code == 3


def test_every_rank_that_raises_by_itself_is_shown(tmp_path):
    later = "\nwhile not Path(place.records, 'rank-1.json').exists(): time.sleep(0.01)\nraise KeyError('second')"
    error = failed(tmp_path, {0: later, 1: "raise ValueError('first')"})
    first, second = error.messages
    assert "ValueError: first" in first and "KeyError: 'second'" in second
    assert "rank 1 (stage 1, replica 0) failed first" in str(error)


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("number, code", [(signal.SIGKILL, 137), (signal.SIGSEGV, 139)])
def test_a_killed_rank_is_named_with_its_signal(tmp_path, rank, number, code):
    error = failed(tmp_path, {rank: f"train(2); os.kill(os.getpid(), {int(number)})", 1 - rank: "train(5)"})
    assert f"rank {rank} (stage {rank}, replica 0) was killed by {number.name}" in str(error)
    assert (error.exit_code, error.messages) == (code, ())


def test_what_a_crashed_rank_said_last_is_shown(tmp_path):
    error = failed(tmp_path, {1: "os.write(2, b'C++ stack'); os.kill(os.getpid(), 6)"})
    assert error.messages[0] == "C++ stack" and "was killed by SIGABRT" in str(error) and error.exit_code == 134


def test_a_code_without_a_word_is_that_ranks_own(tmp_path):
    error = failed(tmp_path, {1: "leave(5)"})
    assert "rank 1 (stage 1, replica 0) ended with exit code 5 and said nothing" in str(error)
    assert error.exit_code == 5


def test_a_rank_that_leaves_with_0_while_it_is_needed_is_told_as_such(tmp_path):
    error = failed(tmp_path, {1: "leave(0)"}, stages=3)
    assert "rank 1 (stage 1, replica 0) ended (exit code 0) while the other ranks still needed it" in str(error)
    assert (error.exit_code, error.messages) == (1, ())


def test_a_rank_that_leaves_with_0_is_missed_even_when_the_others_do_not_notice(tmp_path):
    start = time.monotonic()
    error = failed(tmp_path, {0: "beats.begin(Phase.TRAIN); " + FOREVER, 1: "leave(0)"})
    assert "rank 1 (stage 1, replica 0) ended (exit code 0) while the other ranks still needed it" in str(error)
    assert error.exit_code == 1 and time.monotonic() - start < 15


def test_a_rank_that_hears_nothing_is_ended_with_the_others_long_before_a_stopped_run_would_be(tmp_path):
    start = time.monotonic()
    error = failed(tmp_path, {0: DEAF + FOREVER, 1: "star.gather(b''); leave(4)"}, grace_s=60)
    assert error.exit_code == 4 and time.monotonic() - start < 10


def test_children_of_a_failed_rank_end_with_it(tmp_path):
    assert failed(tmp_path, {1: CHILD + "leave(9)"}).exit_code == 9
    assert (tmp_path / "child").is_file()


@pytest.mark.parametrize("rank", [0, 1])
def test_ranks_that_make_no_progress_are_ended_with_their_stacks(tmp_path, rank):
    start = time.monotonic()
    error = failed(tmp_path, {rank: "train(2); hang()", 1 - rank: "train(5)"}, stall_s=1)
    assert error.exit_code == 124 and time.monotonic() - start < 10
    assert "no rank made progress for" in str(error) and "after step 2" in str(error)
    assert "in hang\n" in stack_path(tmp_path, rank).read_text()
    assert "in train\n" in stack_path(tmp_path, 1 - rank).read_text()
    assert str(stack_path(tmp_path, 0)) in str(error) and str(stack_path(tmp_path, 1)) in str(error)


def test_a_suspended_rank_is_a_stall_too_and_is_ended(tmp_path):
    error = failed(tmp_path, {1: "train(2); os.kill(os.getpid(), signal.SIGSTOP)", 0: "train(5)"}, stall_s=1)
    assert error.exit_code == 124
    assert "no stacks came from rank 1: suspended" in str(error)
    assert "in train\n" in stack_path(tmp_path, 0).read_text()


def test_a_rank_that_only_lost_a_silent_one_has_that_ones_stacks_told(tmp_path):
    lost = "from ernie_pp.errors import PeerLost; train(2); raise PeerLost(1)"
    error = failed(tmp_path, {0: lost, 1: "train(2); hang()"})
    assert error.exit_code == 1 and "lost another rank" in str(error)
    assert str(error).endswith(f"; stacks: {stack_path(tmp_path, 1)}")
    assert "in hang\n" in stack_path(tmp_path, 1).read_text()


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_stop_signal_to_the_parent_ends_all(tmp_path, number, code):
    process = start_parent(tmp_path, {0: CHILD + FOREVER, 1: FOREVER})
    process.send_signal(number)
    errors = process.communicate(timeout=20)[1]
    assert process.returncode == code
    assert "stopped" in errors and "Traceback" not in errors and "rank" not in errors
    assert_nobody_is_left(tmp_path)


SAVING = """
def save(*_):
    time.sleep(0.5)
    Path(place.records, f"saved-{place.rank}").touch()
    leave(CODE)
signal.signal(signal.SIGTERM, save)
"""


@pytest.mark.parametrize("code, expected", [(143, 143), (0, 0)])
def test_stopped_ranks_have_their_time_to_save(tmp_path, code, expected):
    saving = SAVING.replace("CODE", str(code))
    process = start_parent(tmp_path, {0: saving + CHILD + FOREVER, 1: saving + FOREVER}, grace_s=20)
    process.terminate()
    errors = process.communicate(timeout=20)[1]
    assert process.returncode == expected and ("stopped by SIGTERM" in errors) == (code != 0)
    assert {path.name for path in tmp_path.glob("saved-*")} == {"saved-0", "saved-1"}
    assert_nobody_is_left(tmp_path)


def test_a_rank_that_fails_while_the_run_is_stopped_is_told(tmp_path):
    failing = "signal.signal(signal.SIGTERM, lambda *_: exec(\"raise DataError('step-7', 'cannot be saved')\")); "
    process = start_parent(tmp_path, {0: CHILD + failing + FOREVER, 1: DEAF + "train(1)"})
    process.terminate()
    errors = process.communicate(timeout=20)[1]
    assert process.returncode == 3
    assert "DataError: step-7\n  cannot be saved\nrank 0 (stage 0, replica 0) failed first" in errors
    assert_nobody_is_left(tmp_path)


def test_a_rank_that_is_killed_while_it_saves_for_a_stop_is_told(tmp_path):
    killed = "signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGKILL)); "
    process = start_parent(tmp_path, {0: CHILD + killed + FOREVER, 1: DEAF + "train(1)"})
    process.terminate()
    errors = process.communicate(timeout=20)[1]
    assert process.returncode == 137 and "rank 0 (stage 0, replica 0) was killed by SIGKILL" in errors
    assert_nobody_is_left(tmp_path)


def test_a_rank_that_does_not_end_in_its_time_is_killed_and_named(tmp_path):
    process = start_parent(tmp_path, {0: CHILD + FOREVER, 1: DEAF + FOREVER}, grace_s=1)
    start = time.monotonic()
    process.terminate()
    errors = process.communicate(timeout=20)[1]
    assert process.returncode == 143 and time.monotonic() - start < 3
    assert "rank 1 did not end within 1 s (stop.grace_s) and was killed" in errors
    assert_nobody_is_left(tmp_path)


def test_a_second_interrupt_ends_the_waiting(tmp_path):
    noted = "signal.signal(signal.SIGTERM, lambda *_: Path(place.records, 'asked').write_text('yes')); "
    process = start_parent(tmp_path, {0: noted + CHILD + FOREVER, 1: FOREVER}, grace_s=60)
    process.send_signal(signal.SIGINT)
    wait_for_file(tmp_path / "asked", process)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130 and time.monotonic() - start < 1.5
    assert_nobody_is_left(tmp_path)


def test_a_killed_parent_leaves_nobody(tmp_path):
    process = start_parent(tmp_path, {0: CHILD + FOREVER, 1: FOREVER})
    process.kill()
    process.communicate()
    start = time.monotonic()
    assert_nobody_is_left(tmp_path)
    assert time.monotonic() - start < 2


def test_a_rank_that_only_lost_another_says_nothing_on_the_screen(tmp_path):
    work = f"train(2); os.kill(os.getpid(), {int(signal.SIGKILL)})"
    words = [sys.executable, "-c", PARENT, "2", str(tmp_path), "2", *command({1: work, 0: "train(5)"})]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (137, "")
    assert done.stderr.startswith("rank 1 (stage 1, replica 0) was killed by SIGKILL") and done.stderr.count("\n") == 1
    record = read_record(tmp_path, 0)
    assert record is not None and record.is_secondary and record.code == 75


def test_a_real_run_that_hangs_is_ended_with_the_stack_that_hangs(tmp_path):
    path = write_injection(tmp_path, at_micro_batch(9, "import time; time.sleep(1000)"))
    words = ("parallel.stages=2", "train.epochs=100000", "stop.stall_s=3")
    hit = GridRun(sample_run.write_sample(tmp_path), *words, path=path)
    errors, _ = hit.end()
    assert hit.process.returncode == 124
    last = errors.splitlines()[-1]
    assert last.startswith("no rank made progress for") and "Traceback" not in errors
    assert "in hit\n" in stack_path(tmp_path / "run" / "ranks", 1).read_text()
    assert [path for path in (tmp_path / "run").rglob("*") if path.is_file() and _holds(path, hit.mark)] == []
    folder = tmp_path / "run" / "ranks"
    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.glob("rank-*")}
    assert (stat.S_IMODE(folder.stat().st_mode), modes) == (0o700, {0o600})


def _holds(path: Path, words: str) -> bool:
    return words.encode() in path.read_bytes()
