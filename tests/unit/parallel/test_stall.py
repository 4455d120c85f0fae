"""When ranks have stopped making progress, and when it only looks like it."""

import pytest

from ernie_pp.parallel.beats import Beat, Beats, Phase, beat_path, read_beat
from ernie_pp.parallel.stall import Stall, Watch, find_stall, stall_limit


def _train(time, **more):
    return Beat(Phase.TRAIN, 5, time, **more)


def _watched(beats, now):
    """A watch that has looked at the same beats every second up to now."""
    watch = Watch(0.0)
    for second in range(1, now + 1):
        seen = {rank: beat for rank, beat in beats.items() if beat is not None and beat.time <= second}
        watch = watch.look(float(second), seen)
    return watch


def test_a_stall_names_who_moved_last_and_who_first_stood_still():
    beats = {0: _train(95.0), 1: _train(90.0), 2: _train(92.0)}
    assert find_stall(beats, _watched(beats, 102), wanted_s=6) == Stall(7.0, last=0, least=1)


@pytest.mark.parametrize(
    "beats, now",
    [
        ({0: _train(90.0), 1: _train(97.0)}, 102),  # one of them goes on
        ({0: _train(90.0), 1: Beat(Phase.START, 0, 1.0)}, 500),
        ({0: _train(90.0), 1: Beat(Phase.FINISH, 9, 1.0)}, 500),
        ({0: _train(90.0), 1: None}, 500),  # it has not joined
        ({}, 500),
        ({0: Beat(Phase.SAVE, 5, 90.0), 1: _train(90.0)}, 600),
    ],
)
def test_what_is_no_stall(beats, now):
    assert find_stall(beats, _watched(beats, now), wanted_s=6) is None


def test_a_save_has_ten_minutes():
    beats = {0: Beat(Phase.SAVE, 5, 100.0), 1: _train(100.0)}
    assert find_stall(beats, _watched(beats, 701), wanted_s=6) is not None


@pytest.mark.parametrize("usual, wanted, limit", [(0.1, None, 120), (10, None, 200), (10, 30.0, 30), (0, 500.0, 500)])
def test_the_limit_is_the_users_or_that_of_twenty_steps_and_two_minutes_at_least(usual, wanted, limit):
    assert stall_limit([_train(0, usual_step_s=usual), _train(0, usual_step_s=usual / 2)], wanted) == limit


def test_a_machine_that_slept_has_not_stalled():
    beats = {0: _train(10.0)}
    watch = _watched(beats, 11).look(1000, beats)
    assert find_stall(beats, watch, wanted_s=6) is None
    for now in range(1001, 1004):
        watch = watch.look(now, beats)
    assert find_stall(beats, watch, wanted_s=6) == Stall(6.5, last=0, least=0)


def test_a_watcher_that_always_comes_late_still_finds_a_stall():
    beats, watch = {0: _train(10.0)}, Watch(10.0)
    for now in range(15, 40, 5):
        watch = watch.look(now, beats)
    assert find_stall(beats, watch, wanted_s=6) is not None


def test_beats_are_read_as_they_were_left(tmp_path):
    beats = Beats(beat_path(tmp_path, 3))
    assert read_beat(tmp_path, 3) == Beat(Phase.START, 0, beats.last.time)
    beats.begin(Phase.TRAIN)
    for step in (1, 2, 3):
        beats.end_step(step)
    before = beats.last
    beats.beat()
    beats.begin(Phase.SAVE)
    found = read_beat(tmp_path, 3)
    assert found == beats.last and (found.phase, found.step) == (Phase.SAVE, 3)
    assert found.time >= before.time and found.usual_step_s == before.usual_step_s > 0


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 32])
def test_beats_that_make_no_sense_are_none(tmp_path, content):
    beat_path(tmp_path, 0).write_bytes(content)
    assert read_beat(tmp_path, 0) is None and read_beat(tmp_path, 1) is None
