"""How the ranks of one run find each other: rank 0 listens, the others connect, and both sides prove the run's nonce.

    other rank                     rank 0
        | ---------- connect -------> |
        | <-------- challenge ------- |    32 random bytes
        | - challenge, rank, proof -> |    hmac over both challenges and the rank
        | <---------- proof --------- |    the same, of the other side

A stranger is dropped; it can neither join a run nor hold one up.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import logging
import secrets
import selectors
import socket
import struct
import time
from dataclasses import dataclass

from ernie_pp.errors import RunError
from ernie_pp.parallel.frames import PeerLink

LOG = logging.getLogger("ernie_pp")
_CHALLENGE_BYTES, _PROOF_BYTES = 32, hashlib.sha256().digest_size
_HELLO = struct.Struct(f"<{_CHALLENGE_BYTES}sII{_PROOF_BYTES}s")  # challenge, rank, number of ranks, proof
# Connections that have not proved anything yet; of more, the oldest are dropped.
_MAX_STRANGERS = 64
_RETRY_S = 0.02


class PortTaken(RunError):
    """Somebody else listens where rank 0 was to: the same run on other ports may go well."""


@dataclass(frozen=True)
class Meeting:
    """Where the ranks of one run meet, by what they know each other, and how long the last may take to come."""

    address: str  # HOST:PORT of rank 0
    num_ranks: int
    nonce: str
    limit_s: float = 300.0

    @property
    def place(self) -> tuple[str, int]:
        """Host and port."""
        host, _, port = self.address.rpartition(":")
        return host.strip("[]"), int(port)


def welcome_peers(meeting: Meeting, *, listener: socket.socket | None = None) -> dict[int, PeerLink]:
    """The links of rank 0 to all others; RunError where not all have come in time, PortTaken where it cannot listen.

    `listener` is a listening socket of the caller's (for a port that the system chose); it is closed.
    """
    with listener or _listen(meeting) as listener:
        return _Doorkeeper(meeting, listener).wait()


def check_port_free(port: int) -> None:
    """PortTaken where somebody listens at a port of this machine; for a listener that would say so by a crash."""
    with socket.socket() as probe:
        # Bound, and never listening: a rank that comes now must be refused, and not be taken and dropped.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as error:
            what = f"cannot be listened on: {error.strerror or error}"
            raise PortTaken(f"port {port}", what, "Start the run again.") from error


def join_peers(meeting: Meeting, *, rank: int) -> PeerLink:
    """The link of another rank to rank 0, as soon as that listens.

    RunError where it does not in time, PortTaken where somebody else does.
    """
    deadline = time.monotonic() + meeting.limit_s
    connection = _connect(meeting, deadline)
    try:
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        _introduce(connection, meeting, rank)
    except (OSError, EOFError) as error:
        connection.close()
        what = f"rank {rank} joined another run, or another program: what listens there is not rank 0 of this run"
        raise PortTaken(meeting.address, what, "Start the run again.") from error
    return PeerLink(connection, peer=0)


def _listen(meeting: Meeting) -> socket.socket:
    host, port = meeting.place
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=max(meeting.num_ranks, _MAX_STRANGERS))
    except OSError as error:
        what = f"cannot be listened on: {error.strerror or error}"
        kind = PortTaken if error.errno == errno.EADDRINUSE else RunError
        raise kind(meeting.address, what, "Start the run again.") from error


def _connect(meeting: Meeting, deadline: float) -> socket.socket:
    while True:
        left = deadline - time.monotonic()
        try:
            connection = socket.create_connection(meeting.place, timeout=max(left, 0.001))
            if connection.getsockname() != connection.getpeername():
                return connection
            # TCP connects a port to itself where nobody listens and the system happens to choose it for our side.
            connection.close()
        except OSError as error:
            if left <= 0:
                what = f"rank 0 did not listen within {meeting.limit_s:g} s: {error.strerror or error}"
                raise RunError(meeting.address, what, "Look at the messages of rank 0.") from error
        time.sleep(_RETRY_S)


def _introduce(connection: socket.socket, meeting: Meeting, rank: int) -> None:
    theirs, ours = _read(connection, _CHALLENGE_BYTES), secrets.token_bytes(_CHALLENGE_BYTES)
    proof = _proof(meeting, b"joins", theirs + ours, rank)
    connection.sendall(_HELLO.pack(ours, rank, meeting.num_ranks, proof))
    if not hmac.compare_digest(_read(connection, _PROOF_BYTES), _proof(meeting, b"welcomes", theirs + ours, rank)):
        raise EOFError("wrong proof")


def _read(connection: socket.socket, num_bytes: int) -> bytes:
    read = b""
    while len(read) < num_bytes:
        piece = connection.recv(num_bytes - len(read))
        if not piece:
            raise EOFError("closed in the middle of the greeting")
        read += piece
    return read


def _proof(meeting: Meeting, side: bytes, challenges: bytes, rank: int) -> bytes:
    said = b"%s %d %d " % (side, rank, meeting.num_ranks) + challenges
    return hmac.digest(meeting.nonce.encode(), said, "sha256")


class _Doorkeeper:
    """Lets the ranks of this run in, in whatever order they come, and nobody else.

    All newcomers are looked after at once: one that says nothing keeps nobody waiting.
    """

    def __init__(self, meeting: Meeting, listener: socket.socket) -> None:
        self.meeting, self.listener = meeting, listener
        self.links: dict[int, PeerLink] = {}
        self.newcomers: dict[socket.socket, tuple[bytes, bytearray]] = {}  # challenge, what was said so far

    def wait(self) -> dict[int, PeerLink]:
        deadline = time.monotonic() + self.meeting.limit_s
        self.listener.setblocking(False)
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self.listener, selectors.EVENT_READ)
                while len(self.links) < self.meeting.num_ranks - 1:
                    self._look(selector, deadline)
        except BaseException:
            for link in self.links.values():
                link.socket.close()
            raise
        finally:
            for connection in self.newcomers:
                connection.close()
        return dict(sorted(self.links.items()))

    def _look(self, selector: selectors.BaseSelector, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            missing = ", ".join(str(rank) for rank in range(1, self.meeting.num_ranks) if rank not in self.links)
            what = f"did not connect within {self.meeting.limit_s:g} s to {self.meeting.address}"
            raise RunError(f"rank {missing}", what, "Look at the messages of these ranks.")
        for key, _ in selector.select(left):
            if key.fileobj is self.listener:
                self._accept(selector)
            elif not self._hear(key.fileobj):  # type: ignore[arg-type] (the sockets registered here)
                selector.unregister(key.fileobj)
                self._settle(key.fileobj)  # type: ignore[arg-type]

    def _accept(self, selector: selectors.BaseSelector) -> None:
        with contextlib.suppress(OSError):  # gone already
            connection, _ = self.listener.accept()
            if len(self.newcomers) >= _MAX_STRANGERS + self.meeting.num_ranks:
                self._drop(selector, next(iter(self.newcomers)))
            challenge = secrets.token_bytes(_CHALLENGE_BYTES)
            connection.setblocking(False)
            self.newcomers[connection] = challenge, bytearray()
            selector.register(connection, selectors.EVENT_READ)
            connection.send(challenge)

    def _drop(self, selector: selectors.BaseSelector, connection: socket.socket) -> None:
        selector.unregister(connection)
        del self.newcomers[connection]
        connection.close()

    def _hear(self, connection: socket.socket) -> bool:
        """Whether there is more to wait for from a newcomer."""
        said = self.newcomers[connection][1]
        try:
            piece = connection.recv(_HELLO.size - len(said))
        except BlockingIOError:
            return True
        except OSError:
            piece = b""
        said += piece
        return bool(piece) and len(said) < _HELLO.size

    def _settle(self, connection: socket.socket) -> None:
        """Take a newcomer that has proved to be one of ours, drop any other."""
        challenge, said = self.newcomers.pop(connection)
        rank = self._rank_of(challenge, bytes(said))
        if rank is None or rank in self.links:
            LOG.debug("%s: a connection that is none of this run's was dropped", self.meeting.address)
            connection.close()
            return
        try:
            connection.send(_proof(self.meeting, b"welcomes", challenge + bytes(said[:_CHALLENGE_BYTES]), rank))
        except OSError:
            connection.close()
            return
        self.links[rank] = PeerLink(connection, peer=rank)

    def _rank_of(self, challenge: bytes, said: bytes) -> int | None:
        if len(said) != _HELLO.size:
            return None
        theirs, rank, num_ranks, proof = _HELLO.unpack(said)
        is_ours = hmac.compare_digest(proof, _proof(self.meeting, b"joins", challenge + theirs, rank))
        return rank if is_ours and num_ranks == self.meeting.num_ranks and 0 < rank < num_ranks else None
