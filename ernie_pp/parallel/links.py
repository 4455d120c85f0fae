"""The way between neighbouring stages on CPU processes: a socket for each pair, with a sender and a receiver thread.

gloo's own messages die when the other side is 30 s late and must be waited for in one order on both sides. Here a
message is taken over from the stage at once and waits on the other side until it is wanted, however long that takes.

    stage 0  --activations-->  stage 1  --activations-->  stage 2
             <---gradients---           <---gradients---
"""

from __future__ import annotations

import json
import queue
import socket
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ernie_pp.errors import PeerLost, RunError

MessageKind = Literal["activations", "gradients"]
_KINDS: tuple[MessageKind, ...] = ("activations", "gradients")
_HEADER = struct.Struct("<II")  # kind, bytes of the description that follows
_MAX_DESCRIPTION_BYTES = 1 << 16
_MAX_ARRAY_BYTES = 16 << 30


@dataclass(frozen=True)
class Message:
    """Tensors as arrays; `is_tuple`: they were one tensor, or a tuple of them; which of them have gradients."""

    arrays: tuple[np.ndarray, ...]
    has_gradient: tuple[bool, ...]
    is_tuple: bool


class StageLink:
    """Both directions between this process and one neighbour. PeerLost where that is gone."""

    def __init__(self, connection: socket.socket, *, peer: int) -> None:
        self.socket, self.peer = connection, peer
        self._outgoing: queue.SimpleQueue[tuple[MessageKind, Message]] = queue.SimpleQueue()
        self._incoming: dict[MessageKind, queue.SimpleQueue[Message | Exception]] = {
            kind: queue.SimpleQueue() for kind in _KINDS
        }
        self._failure: Exception | None = None
        for work in (self._send_all, self._receive_all):
            threading.Thread(target=work, name=f"{work.__name__}-{peer}", daemon=True).start()

    def send(self, kind: MessageKind, message: Message) -> None:
        """Take a message over; it goes as soon as those before it have gone."""
        if self._failure is not None:
            raise self._failure
        self._outgoing.put((kind, message))

    def receive(self, kind: MessageKind) -> Message:
        """The next message of a kind, waited for as long as the neighbour lives."""
        message = self._incoming[kind].get()
        if isinstance(message, Exception):
            self._incoming[kind].put(message)  # for the next call
            raise message
        return message

    def _send_all(self) -> None:
        try:
            while True:
                _write(self.socket, *self._outgoing.get())
        except OSError:
            self._failure = PeerLost(self.peer)

    def _receive_all(self) -> None:
        try:
            while True:
                kind, message = _read(self.socket)
                self._incoming[kind].put(message)
        except (OSError, EOFError):
            failure: Exception = PeerLost(self.peer)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            what = f"sends a message that is none: {error}"
            failure = RunError(f"rank {self.peer}", what, "Please report this: it is a fault of ernie_pp.")
        self._failure = failure
        for waiting in self._incoming.values():
            waiting.put(failure)


def _write(connection: socket.socket, kind: MessageKind, message: Message) -> None:
    description = {
        "arrays": [[str(array.dtype), array.shape] for array in message.arrays],
        "has_gradient": message.has_gradient,
        "is_tuple": message.is_tuple,
    }
    text = json.dumps(description).encode()
    connection.sendall(_HEADER.pack(_KINDS.index(kind), len(text)) + text)
    for array in message.arrays:
        if array.nbytes:
            connection.sendall(_bytes_of(np.ascontiguousarray(array)))


def _read(connection: socket.socket) -> tuple[MessageKind, Message]:
    kind, size = _HEADER.unpack(_read_bytes(connection, _HEADER.size))
    if size > _MAX_DESCRIPTION_BYTES:
        raise ValueError(f"a description of {size} bytes")
    description = json.loads(_read_bytes(connection, size))
    arrays = tuple(_read_array(connection, dtype, shape) for dtype, shape in description["arrays"])
    return _KINDS[kind], Message(arrays, tuple(description["has_gradient"]), bool(description["is_tuple"]))


def _read_array(connection: socket.socket, dtype: str, shape: Sequence[int]) -> np.ndarray:
    if int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize > _MAX_ARRAY_BYTES:
        raise ValueError(f"an array of shape {list(shape)}")
    array = np.empty(shape, np.dtype(dtype))
    if array.nbytes:
        _fill(connection, _bytes_of(array))
    return array


def _bytes_of(array: np.ndarray) -> memoryview:
    return memoryview(array.data).cast("B")


def _read_bytes(connection: socket.socket, size: int) -> bytes:
    buffer = bytearray(size)
    _fill(connection, memoryview(buffer))
    return bytes(buffer)


def _fill(connection: socket.socket, view: memoryview) -> None:
    while len(view):
        count = connection.recv_into(view, min(len(view), 1 << 30), socket.MSG_WAITALL)
        if not count:
            raise EOFError("the connection has ended")
        view = view[count:]
