"""The star between ranks: same answers on all, and a dead peer noticed at once by whoever waits."""

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import sample_run
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.errors import PeerLost, RunError
from ernie_pp.parallel import frames
from ernie_pp.parallel.control import Alone, open_star
from ernie_pp.parallel.ports import free_port


def _together(num_ranks: int, work: Callable[[Any], Any], *, address: str | None = None) -> list[Any]:
    """What `work(star)` gives on every rank, each in a thread of its own; an error is given as a value."""
    address = address or f"127.0.0.1:{free_port('127.0.0.1')}"

    def rank_work(rank):
        star = open_star(rank, num_ranks, address=address, nonce="ours", limit_s=20)
        try:
            return work(star)
        except RunError as error:
            return error
        finally:
            star.close()

    with ThreadPoolExecutor(num_ranks) as pool:
        return list(pool.map(rank_work, range(num_ranks)))


@given(st.lists(st.lists(st.floats(allow_nan=False), min_size=3, max_size=3), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None)
def test_sums_are_those_of_the_ranks_in_order_and_equal_on_all(numbers):
    results = _together(len(numbers), lambda star: star.sum(np.array(numbers[star.rank])))
    expected = np.zeros(3)
    for values in numbers:
        expected = expected + np.array(values)
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_a_sum_keeps_shape_and_counts_in_float64():
    results = _together(3, lambda star: star.sum(np.full((2, 2), 1 / 3, dtype=np.float32)))
    assert all(result.shape == (2, 2) and result.dtype == np.float64 for result in results)


@given(st.lists(st.binary(max_size=200_000), min_size=2, max_size=4))
@settings(max_examples=15, deadline=None)
def test_gather_and_broadcast_carry_every_byte(values):
    def work(star):
        return star.gather(values[star.rank]), star.broadcast(values[star.rank])

    first, *others = _together(len(values), work)
    assert first == (values, values[0])
    assert all(other == ([], values[0]) for other in others)


def test_a_message_larger_than_any_buffer_arrives_whole():
    value = np.random.default_rng(0).bytes(30_000_000)
    first, second = _together(2, lambda star: (star.gather(value), star.broadcast(value)))
    assert first[0] == [value, value] and second == ([], value)


def test_nobody_passes_a_meeting_before_all_are_there():
    arrived, seen = [], []

    def work(star):
        if star.rank == 2:
            star.gather(b"")
            arrived.append("late")
        else:
            star.gather(b"")
        star.meet()
        seen.append(list(arrived))

    _together(3, work)
    assert seen == [["late"]] * 3


def test_ranks_that_run_ahead_of_rank_0_wait_in_order():
    def work(star):
        return [star.gather(b"%d %d" % (star.rank, index)) for index in range(50)]

    gathered = _together(4, work)[0]
    assert gathered == [[b"%d %d" % (rank, index) for rank in range(4)] for index in range(50)]


def test_a_sum_of_four_numbers_takes_well_under_a_millisecond():
    def work(star):
        star.meet()
        seconds = []
        for _ in range(300):
            start = time.perf_counter()
            star.sum(np.ones(4))
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    assert min(_together(2, work)) < 1e-3


def test_ranks_that_took_different_ways_are_told_and_not_mixed():
    def work(star):
        return star.meet() if star.rank == 0 else star.gather(b"x")

    first, _ = _together(2, work)
    assert isinstance(first, RunError) and "rank 1\n  is at GATHER 1, and this rank at MEET 1" in str(first)


def test_sums_of_different_sizes_are_told():
    first, _ = _together(2, lambda star: star.sum(np.ones(2 + star.rank)))
    assert "rank 1\n  sums 3 numbers, and rank 0 sums 2" in str(first)


def test_every_waiting_rank_hears_which_one_is_gone():
    def work(star):
        star.meet()
        if star.rank == 2:
            for link in star._links.values():
                link.socket.close()
            return None
        return star.meet()

    first, second, _, last = _together(4, work)
    for error in (first, second, last):
        assert isinstance(error, PeerLost) and error.rank == 2, error
        assert error.exit_code == 75


def test_a_rank_that_ended_well_while_others_need_it_is_told_as_such():
    def work(star):
        return star.meet() if star.rank != 1 else None

    first, _, last = _together(3, work)
    assert "rank 1\n  has ended while the other ranks still needed it" in str(first)
    assert isinstance(last, PeerLost) and last.rank == 1


def test_a_rank_may_leave_when_its_last_message_is_handed_over():
    is_gone = threading.Event()

    def work(star):
        if star.rank == 2:
            is_gone.wait()
        gathered = star.gather(b"%d" % star.rank)
        if star.rank == 1:
            star.close()
            is_gone.set()
        return gathered

    assert _together(3, work)[0] == [b"0", b"1", b"2"]


def test_alone_there_is_no_network():
    assert isinstance(open_star(0, 1, address="nowhere:1", nonce="x"), Alone)


def test_a_length_out_of_bounds_is_refused_before_memory_is_taken(monkeypatch):
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    monkeypatch.setattr(
        frames.PeerLink, "__init__", lambda self, connection, peer: self.__dict__.update(socket=connection)
    )
    link = frames.PeerLink(ours, peer=3)
    link.peer = 3
    theirs.sendall(struct.pack("<BQQ", frames.Call.GATHER, 1, 1 << 60))
    with pytest.raises(RunError, match=r"rank 3\n  sends \d+ bytes, expected"):
        link.receive(frames.Call.GATHER, 1)
    monkeypatch.setattr(frames, "MAX_MESSAGE_BYTES", 10)
    with pytest.raises(ValueError, match="a message of 11 bytes, expected 10 at most"):
        link.send(frames.Call.GATHER, 1, b"x" * 11)


RANK = """
import signal, sys
from ernie_pp.parallel.control import open_star
def stop(number, frame): raise SystemExit(128 + number)
signal.signal(signal.SIGTERM, stop)
star = open_star(int(sys.argv[1]), 2, address=sys.argv[2], nonce="n", limit_s=20)
star.meet()
print("met", flush=True)
if sys.argv[1] in sys.argv[3]:
    star.meet()
sys.stdin.read()
"""


def _start_ranks(waiting):
    address = f"127.0.0.1:{free_port('127.0.0.1')}"
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, str(rank), address, waiting],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=sample_run.environment(),
        )
        for rank in range(2)
    ]
    for rank in ranks:
        assert rank.stdout is not None and rank.stdout.readline() == "met\n"
    return ranks


@pytest.mark.parametrize("killed", [0, 1])
def test_the_death_of_a_process_is_noticed_at_once(killed):
    ranks = _start_ranks(waiting=str(1 - killed))
    start = time.monotonic()
    os.kill(ranks[killed].pid, signal.SIGKILL)
    errors = ranks[1 - killed].communicate(timeout=20)[1]
    assert time.monotonic() - start < 2
    assert f"PeerLost: rank {killed}\n  is gone" in errors
    ranks[killed].communicate()


@pytest.mark.parametrize("waiting", [0, 1])
def test_a_signal_ends_a_rank_that_waits_for_another(waiting):
    ranks = _start_ranks(waiting=str(waiting))
    ranks[waiting].terminate()
    assert ranks[waiting].wait(timeout=20) == 143
    ranks[1 - waiting].communicate()
    ranks[waiting].communicate()
