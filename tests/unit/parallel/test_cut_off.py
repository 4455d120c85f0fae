"""A connection to a machine that is cut off is told from one to a rank that is busy."""

import contextlib
import socket
import threading
import time

import pytest

from ernie_pp.parallel import cut_off
from ernie_pp.parallel.cut_off import Traffic, read_traffic, watch_connection


@pytest.mark.parametrize(
    "unanswered, silence, is_one_sided", [(3, 31, True), (3, 29, False), (0, 3000, False), (1, 3000, False)]
)
def test_only_what_stays_unanswered_for_long_is_one_sided(unanswered, silence, is_one_sided):
    assert Traffic(unanswered, silence).is_one_sided is is_one_sided


@contextlib.contextmanager
def _pair():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as one,
        server.accept()[0] as other,
    ):
        yield one, other


def test_a_rank_that_reads_nothing_for_long_is_not_taken_for_cut_off(monkeypatch):
    monkeypatch.setattr(cut_off, "LIMIT_S", 1.0)
    monkeypatch.setattr(cut_off, "_LOOK_EVERY_S", 0.05)
    with _pair() as (one, other):
        watch_connection(one)
        value = b"x" * 20_000_000
        sender = threading.Thread(target=one.sendall, args=(value,))
        sender.start()
        end = time.monotonic() + 3
        while time.monotonic() < end:
            assert not read_traffic(one).is_one_sided
            time.sleep(0.05)
        received = 0
        while received < len(value):
            received += len(other.recv(1 << 20))
        sender.join()


def test_an_idle_connection_asks_whether_the_other_side_lives():
    with _pair() as (one, _):
        watch_connection(one)
        assert one.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert one.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 10


def test_connections_without_a_network_are_left_alone():
    one, other = socket.socketpair()
    with one, other:
        watch_connection(one)
