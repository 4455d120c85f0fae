"""Of ranks that have ended, the one that was the cause is found, and what the others lost is not taken for it."""

import signal

import pytest

from ernie_pp.errors import PeerLost
from ernie_pp.parallel.beats import Beat, Phase
from ernie_pp.parallel.launcher.verdict import (
    RankEnd,
    find_failed_stop,
    is_own_failure,
    judge,
    left_too_early,
    lost_a_port,
    stopped_all,
)
from ernie_pp.parallel.peers import PortTaken
from ernie_pp.parallel.rank_record import RankRecord, build_record, read_record, write_record


def _end(rank, code, time, *, secondary=None):
    record = None if secondary is None else RankRecord(rank, code, f"text {rank}", secondary, time)
    return RankEnd(rank, code, time, record)


@pytest.mark.parametrize(
    "ends, first, code",
    [
        ([_end(0, 75, 1.0, secondary=True), _end(1, 3, 2.0, secondary=False)], 1, 3),
        ([_end(0, 1, 2.0, secondary=False), _end(1, 2, 1.0, secondary=False)], 1, 2),
        ([_end(0, 1, 1.0, secondary=True), _end(1, -9, 2.0)], 1, 137),
        ([_end(0, -6, 1.0), _end(1, 1, 2.0, secondary=False)], 1, 1),
        ([_end(0, -6, 1.0), _end(1, 0, 0.5)], 0, 134),
        ([_end(0, 75, 1.0, secondary=True), _end(1, 0, 2.0)], 1, 1),
        ([_end(0, 75, 2.0, secondary=True), _end(1, 75, 1.0, secondary=True)], 1, 1),
    ],
)
def test_the_cause_comes_before_what_it_brought_about(ends, first, code):
    verdict = judge(ends)
    assert (verdict.first.rank, verdict.first.exit_code) == (first, code)


def test_when_ranks_only_lost_each_other_the_first_message_is_shown():
    verdict = judge([_end(0, 75, 2.0, secondary=True), _end(1, 75, 1.0, secondary=True)])
    assert verdict.messages == ("text 1",) and verdict.phrase == "lost another rank, and none says why"


@pytest.mark.parametrize(
    "error, secondary",
    [
        (RuntimeError("[/gloo/transport/tcp/pair.cc:547] Connection closed by peer"), True),
        (PeerLost(1), True),
        (ValueError("(InvalidArgument) TCP connection reset by peer. Details: Success. (at tcp_utils.h:111)"), True),
        (ConnectionResetError("a download"), False),
        (BrokenPipeError("the reader of our output"), False),
        (RuntimeError("shapes differ"), False),
        (ValueError("gloo"), False),
    ],
)
def test_what_a_transport_says_of_a_lost_peer_is_no_cause(tmp_path, error, secondary):
    write_record(tmp_path, build_record(1, code=1, text="文字\ud800", error=error))
    record = read_record(tmp_path, 1)
    assert record is not None and record.is_secondary is secondary and record.text == "文字?"


TRAINING, FINISHING = Beat(Phase.TRAIN, 3, 0.0), Beat(Phase.FINISH, 3, 0.0)


@pytest.mark.parametrize(
    "ended, beats, is_early",
    [
        ({1: 5.0}, {0: TRAINING}, True),
        ({1: 5.0}, {0: FINISHING, 2: None}, True),
        ({1: 9.0}, {0: TRAINING}, False),
        ({1: 5.0}, {0: FINISHING}, False),  # it writes its results, and needs nobody
        ({}, {0: TRAINING}, False),
        ({0: 1.0, 1: 2.0}, {}, False),
    ],
)
def test_a_rank_has_left_too_early_when_others_still_train_ten_seconds_later(ended, beats, is_early):
    assert left_too_early(ended, beats, now=16.0) is is_early


def test_a_taken_port_is_known_by_the_record_or_by_the_abort_of_a_store(tmp_path):
    write_record(tmp_path, build_record(1, code=1, text="x", error=PortTaken("port 1", "is taken")))
    assert lost_a_port([RankEnd(0, 75, 1.0), RankEnd(1, 1, 1.0, read_record(tmp_path, 1))])
    assert lost_a_port([RankEnd(0, -6, 1.0)])
    assert not lost_a_port([RankEnd(0, -9, 1.0), _end(1, 1, 1.0, secondary=False)])


@pytest.mark.parametrize(
    "ends, failed",
    [
        ([_end(0, 1, 1.0, secondary=False), _end(1, 143, 2.0)], 0),
        ([_end(0, 1, 2.0, secondary=False), _end(1, 143, 1.0)], None),  # it only missed the one that had left
        ([_end(0, 75, 1.0, secondary=True), _end(1, 143, 2.0)], None),
        ([_end(0, 143, 1.0), _end(1, 143, 2.0)], None),
        ([_end(0, 75, 1.0, secondary=True), RankEnd(1, -9, 1.5)], 1),  # seen later than it was missed
        ([RankEnd(0, -2, 1.0), RankEnd(1, -15, 1.0), RankEnd(2, -6, 1.0)], None),
        ([RankEnd(0, 143, 1.0), RankEnd(3, -9, 9.0)], None),  # killed by us
        ([], None),
    ],
)
def test_a_failure_while_the_ranks_stop_is_one_when_it_came_first_or_was_a_kill(ends, failed):
    found = find_failed_stop(ends, signals=[2], late=[3])
    assert (found.rank if found is not None else None) == failed


@pytest.mark.parametrize(
    "end, is_own",
    [
        (RankEnd(1, -9, 1.0), True),
        (_end(1, 1, 1.0, secondary=False), True),
        (_end(1, 75, 1.0, secondary=True), False),
        (RankEnd(1, 143, 1.0), False),
        (RankEnd(1, -15, 1.0), False),
        (RankEnd(1, 0, 1.0), False),
    ],
)
def test_a_failure_just_before_a_stop_is_not_taken_for_the_stop(end, is_own):
    assert is_own_failure(end, [15]) is is_own


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_ranks_that_all_left_by_one_stop_signal_are_a_stop(number):
    ends = [RankEnd(rank, 128 + number, 1.0) for rank in (0, 1)]
    assert stopped_all(ends) == number
    assert stopped_all([*ends, RankEnd(2, 1, 1.0)]) == 0
    assert stopped_all([RankEnd(0, 128 + signal.SIGKILL, 1.0)]) == 0
    assert stopped_all([]) == 0
