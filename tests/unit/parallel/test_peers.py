"""How ranks find each other: those of one run come together, strangers are kept out, and taken ports are told."""

import contextlib
import socket
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ernie_pp.errors import RunError
from ernie_pp.parallel.control import open_star
from ernie_pp.parallel.peers import PortTaken, check_port_free
from ernie_pp.parallel.ports import free_port

FALSE_RANK_0 = "joined another run, or another program: what listens there is not rank 0 of this run"


def _address():
    return f"127.0.0.1:{free_port('127.0.0.1')}"


def _stranger(address, said):
    host, port = address.split(":")
    connection = None
    while connection is None:
        with contextlib.suppress(OSError):
            connection = socket.create_connection((host, int(port)))
    with contextlib.suppress(OSError):
        connection.sendall(said)
    return connection


@pytest.mark.parametrize(
    "said", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 72, struct.pack("<32sII32s", b"c" * 32, 1, 2, b"p" * 32)]
)
def test_a_stranger_is_kept_out_and_holds_nobody_up(said):
    address, held = _address(), []
    visitor = threading.Thread(target=lambda: held.append(_stranger(address, said)))

    def work(star):
        return star.sum(np.ones(1))[0]

    visitor.start()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(open_star, 0, 2, address=address, nonce="ours", limit_s=20)
        visitor.join()
        second = pool.submit(open_star, 1, 2, address=address, nonce="ours", limit_s=20)
        stars = [first.result(), second.result()]
        assert list(pool.map(work, stars)) == [2, 2]
    for star in stars:
        star.close()
    held[0].close()


def test_a_rank_of_another_run_is_refused_on_both_sides():
    address = _address()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(open_star, 0, 2, address=address, nonce="ours", limit_s=1)
        second = pool.submit(open_star, 1, 2, address=address, nonce="theirs", limit_s=1)
        assert FALSE_RANK_0 in str(second.exception())
        assert "rank 1\n  did not connect within 1 s" in str(first.exception())


def test_a_false_rank_0_is_not_believed():
    address = _address()
    host, port = address.split(":")
    with socket.create_server((host, int(port))) as server, ThreadPoolExecutor(1) as pool:
        rank = pool.submit(open_star, 1, 2, address=address, nonce="ours", limit_s=20)
        connection, _ = server.accept()
        connection.sendall(b"c" * 32)
        connection.recv(72, socket.MSG_WAITALL)
        connection.sendall(b"p" * 32)
        assert FALSE_RANK_0 in str(rank.exception())
        connection.close()


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(RunError, match=f"{address}\n  cannot be listened on"):
            open_star(0, 2, address=address, nonce="x")


def test_a_port_is_looked_at_without_listening_on_it():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(PortTaken, match=f"port {port}\n  cannot be listened on: Address already in use"):
            check_port_free(port)
    check_port_free(port)


def test_rank_0_listens_on_the_given_address_only():
    address = _address()
    port = int(address.split(":")[1])
    with ThreadPoolExecutor(1) as pool:
        star = pool.submit(open_star, 0, 2, address=address, nonce="x", limit_s=0.5)
        _stranger(address, b"").close()
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.2", port), timeout=1)
        assert isinstance(star.exception(), RunError)
