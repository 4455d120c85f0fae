"""Messages over a TCP connection, each whole, of a known size and from a known call."""

from __future__ import annotations

import contextlib
import enum
import socket
import struct

from ernie_pp.errors import PeerLost, RunError
from ernie_pp.parallel.cut_off import watch_connection

# The weights, or the optimizer's state, of a whole model are the largest messages there are.
MAX_MESSAGE_BYTES = 8 << 30
_HEADER = struct.Struct("<BQQ")  # call, its number, bytes that follow
_MAX_RECEIVED_AT_ONCE = 1 << 30


class Call(enum.IntEnum):
    """What a message belongs to. BYE: the sender needs nothing more. LOST: some other rank is gone."""

    MEET = 1
    SUM = 2
    GATHER = 3
    BROADCAST = 4
    BYE = 5
    LOST = 6


class PeerLink:
    """The connection to one other rank. PeerLost where that rank is gone; no wait has a time limit."""

    def __init__(self, connection: socket.socket, *, peer: int) -> None:
        self.socket, self.peer = connection, peer
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A machine that has lost its power closes no connection.
        watch_connection(connection)

    def fileno(self) -> int:
        """For `select`."""
        return self.socket.fileno()

    def send(self, call: Call, number: int, value: bytes = b"") -> None:
        """Hand one message over; ValueError where it is too large to be one."""
        if len(value) > MAX_MESSAGE_BYTES:
            raise ValueError(f"a message of {len(value)} bytes, expected {MAX_MESSAGE_BYTES} at most")
        header = _HEADER.pack(call, number, len(value))
        try:
            if len(value) < 65536:
                self.socket.sendall(header + value)  # one packet
            else:
                self.socket.sendall(header)
                self.socket.sendall(value)
        except OSError as error:
            raise self.lost() from error

    def receive(self, call: Call, number: int) -> bytes:
        """The message of this call; RunError where the other side is at another one."""
        came, its_number, num_bytes = _HEADER.unpack(self._receive(_HEADER.size))
        if num_bytes > MAX_MESSAGE_BYTES:
            what = f"sends {num_bytes} bytes, expected {MAX_MESSAGE_BYTES} at most"
            raise RunError(f"rank {self.peer}", what, "Please report this: it is a fault of ernie_pp.")
        value = self._receive(num_bytes)
        if came == Call.BYE:
            raise PeerLost(self.peer, "has ended while the other ranks still needed it")
        if came == Call.LOST:
            raise PeerLost(int.from_bytes(value, "little"))
        if (came, its_number) != (call, number):
            raise self._out_of_step(came, its_number, f"{call.name} {number}")
        return value

    def is_gone(self) -> bool:
        """Whether the connection is broken with nothing left to read on it; call it when there is something to see."""
        try:
            return self.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def close(self, call: Call, number: int, value: bytes = b"") -> None:
        """Leave a last message where it can still be taken, and end the connection."""
        with contextlib.suppress(OSError, PeerLost):
            self.socket.settimeout(1.0)
            self.send(call, number, value)
        self.socket.close()

    def lost(self) -> PeerLost:
        """The error of a peer whose connection has ended."""
        return PeerLost(self.peer)

    def _receive(self, num_bytes: int) -> bytes:
        pieces: list[bytes] = []
        while num_bytes:
            try:
                # All that is asked for, unless a signal comes in between: no copy is made of a large message.
                piece = self.socket.recv(min(num_bytes, _MAX_RECEIVED_AT_ONCE), socket.MSG_WAITALL)
            except OSError as error:
                raise self.lost() from error
            if not piece:
                raise self.lost()
            pieces.append(piece)
            num_bytes -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _out_of_step(self, came: int, its_number: int, ours: str) -> RunError:
        name = Call(came).name if came in set(Call) else f"unknown call {came}"
        what = f"is at {name} {its_number}, and this rank at {ours}: the ranks took different ways"
        return RunError(f"rank {self.peer}", what, "Please report this: it is a fault of ernie_pp.")
