"""Of ranks that have ended, the one that was the cause is found, and what the others lost is not taken for it."""

import pytest

from ernie_pp.errors import PeerLost
from ernie_pp.parallel.launcher.verdict import RankEnd, judge
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
