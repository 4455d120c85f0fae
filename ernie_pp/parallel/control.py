"""Small messages between all ranks of a run: meeting points, sums of a few numbers, bytes to and from rank 0."""

from __future__ import annotations

from typing import Protocol

import numpy as np


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
