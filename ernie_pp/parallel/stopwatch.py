"""Where the time of a step goes on this rank."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields

from ernie_pp.parallel.beats import Beats
from ernie_pp.partition.order import Kind


@dataclass(frozen=True)
class Span:
    """One pass of a micro-batch through a chunk here; times in seconds from the step's begin."""

    kind: Kind
    chunk: int
    micro_batch: int
    start_s: float
    end_s: float


@dataclass(frozen=True)
class RankTimes:
    """Seconds of one step on one rank: computing, handing tensors over, and waiting for the neighbours."""

    forward_s: float = 0.0
    backward_s: float = 0.0
    transfer_s: float = 0.0
    idle_s: float = 0.0

    def to_numbers(self) -> list[float]:
        """The four numbers, in the order of TIMES."""
        return [getattr(self, name) for name in TIMES]


TIMES = tuple(field.name for field in fields(RankTimes))


class Stopwatch:
    """Measures one step after the other. On a GPU a pass ends once its work is handed over, not once it is done.

    Every pass is a beat of `beats`.
    """

    def __init__(self, beats: Beats | None = None) -> None:
        self.beats = beats or Beats()
        self.start()

    def start(self) -> None:
        """A step begins."""
        self.began = time.perf_counter()
        self.spans: list[Span] = []
        self.transfer_s = self.idle_s = 0.0
        self._passes: Counter[tuple[Kind, int]] = Counter()

    @contextlib.contextmanager
    def computing(self, kind: Kind, *, chunk: int = 0) -> Iterator[None]:
        """Time the next micro-batch's pass through a chunk: they come in order."""
        start = time.perf_counter()
        try:
            yield
        finally:
            index = self._passes[kind, chunk]
            self._passes[kind, chunk] += 1
            end = time.perf_counter()
            self.spans.append(Span(kind, chunk, index, start - self.began, end - self.began))
            self.beats.beat()

    @contextlib.contextmanager
    def handing_over(self) -> Iterator[None]:
        """Time the copying of tensors to and from messages."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.transfer_s += time.perf_counter() - start

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Time the wait for a neighbour's message."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.idle_s += time.perf_counter() - start

    def times(self) -> RankTimes:
        """The sums since the step's begin."""
        return RankTimes(self._sum("forward"), self._sum("backward"), self.transfer_s, self.idle_s)

    def _sum(self, kind: Kind) -> float:
        return sum(span.end_s - span.start_s for span in self.spans if span.kind == kind)
