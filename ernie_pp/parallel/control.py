"""Small messages between all ranks of a run: meeting points, sums of a few numbers, bytes to and from rank 0."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from ernie_pp.errors import PeerLost, RunError
from ernie_pp.parallel.frames import Call, PeerLink
from ernie_pp.parallel.peers import Meeting, join_peers, welcome_peers


class Control(Protocol):
    """Every rank makes the same calls in the same order; none of them has a time limit.

    A peer that is gone raises PeerLost on every rank that waits for it.
    """

    @property
    def rank(self) -> int: ...
    @property
    def num_ranks(self) -> int: ...
    def meet(self) -> None:
        """Return once every rank is here."""
        ...

    def sum(self, numbers: np.ndarray) -> np.ndarray:
        """Float64 sums over all ranks, the same to the bit on every rank."""
        ...

    def gather(self, value: bytes) -> list[bytes]:
        """Every rank's value in the order of the ranks, on rank 0; an empty list on the others."""
        ...

    def broadcast(self, value: bytes) -> bytes:
        """Rank 0's value; what the others give is not looked at."""
        ...

    def close(self) -> None:
        """End the connections."""
        ...


class Alone:
    """The only rank of a run."""

    rank, num_ranks = 0, 1

    def meet(self) -> None:
        """There is nobody to wait for."""

    def sum(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers themselves."""
        return np.asarray(numbers, dtype=np.float64)

    def gather(self, value: bytes) -> list[bytes]:
        """The one value."""
        return [value]

    def broadcast(self, value: bytes) -> bytes:
        """The value itself."""
        return value

    def close(self) -> None:
        """There is no connection."""


def open_star(
    rank: int,
    num_ranks: int,
    *,
    address: str,
    nonce: str,
    limit_s: float = 300.0,
    listener: socket.socket | None = None,
) -> Control:
    """Connect all ranks of a run; `address` is where rank 0 listens, `nonce` is known to this run's ranks alone.

    `listener` is rank 0's, where it listens there already.
    RunError where they have not all come after `limit_s`.
    """
    if num_ranks == 1:
        return Alone()
    meeting = Meeting(address, num_ranks, nonce, limit_s)
    links = welcome_peers(meeting, listener=listener) if rank == 0 else {0: join_peers(meeting, rank=rank)}
    return Star(rank, num_ranks, links)


class Star:
    """Connections of every rank to rank 0, which collects and spreads. For one thread."""

    def __init__(self, rank: int, num_ranks: int, links: Mapping[int, PeerLink]) -> None:
        self.rank, self.num_ranks = rank, num_ranks
        self._links, self._number = links, 0  # how many calls were made: all ranks make the same

    def meet(self) -> None:
        """Return once every rank is here."""
        self._collect(Call.MEET, b"")
        self._spread(Call.MEET, b"")

    def sum(self, numbers: np.ndarray) -> np.ndarray:
        """Float64 sums over all ranks, in the order of the ranks."""
        ours = np.ascontiguousarray(numbers, dtype=np.float64)
        collected = self._collect(Call.SUM, ours.tobytes())
        total = np.zeros_like(ours)
        for rank, value in enumerate(collected):
            if len(value) != ours.nbytes:
                what = f"sums {len(value) // ours.itemsize} numbers, and rank 0 sums {ours.size}"
                raise RunError(f"rank {rank}", what, "Please report this: it is a fault of ernie_pp.")
            total += np.frombuffer(value).reshape(ours.shape)
        return np.frombuffer(self._spread(Call.SUM, total.tobytes())).reshape(ours.shape).copy()

    def gather(self, value: bytes) -> list[bytes]:
        """Every rank's value in the order of the ranks, on rank 0; an empty list on the others."""
        return self._collect(Call.GATHER, value)

    def broadcast(self, value: bytes) -> bytes:
        """Rank 0's value."""
        return self._spread(Call.BROADCAST, value)

    def close(self) -> None:
        """End the connections; a rank that still waits for this one is told so."""
        for link in self._links.values():
            link.close(Call.BYE, self._number)

    def _collect(self, call: Call, value: bytes) -> list[bytes]:
        self._number += 1
        if self.rank:
            self._links[0].send(call, self._number, value)
            return []
        values = {0: value}
        try:
            self._receive_all(call, values)
        except PeerLost as error:
            self._pass_on(error)
            raise
        return [values[rank] for rank in range(self.num_ranks)]

    def _receive_all(self, call: Call, values: dict[int, bytes]) -> None:
        """Add every other rank's value as it comes. One that goes meanwhile is noticed, whoever is waited for."""
        with selectors.DefaultSelector() as selector:
            for link in self._links.values():
                selector.register(link, selectors.EVENT_READ)
            while len(values) < self.num_ranks:
                for key, _ in selector.select():
                    link = key.fileobj
                    assert isinstance(link, PeerLink)
                    if link.peer not in values:
                        values[link.peer] = link.receive(call, self._number)
                    elif link.is_gone():
                        raise link.lost()
                    else:
                        selector.unregister(link)  # it is ahead of us: its next call waits here

    def _spread(self, call: Call, value: bytes) -> bytes:
        self._number += 1
        if self.rank:
            return self._links[0].receive(call, self._number)
        try:
            for link in self._links.values():
                link.send(call, self._number, value)
        except PeerLost as error:
            self._pass_on(error)
            raise
        return value

    def _pass_on(self, error: PeerLost) -> None:
        """Tell the ranks that wait for this one who is gone: they could not know it."""
        for link in self._links.values():
            link.close(Call.LOST, self._number, error.rank.to_bytes(4, "little"))
