"""One step as it was: what every rank computed when, for the report and as a Chrome trace."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ernie_pp.parallel.stopwatch import Span
from ernie_pp.parallel.topology import Grid
from ernie_pp.parallel.world import World
from ernie_pp.partition.simulate import Event, Timeline, build_timeline


@dataclass(frozen=True)
class MeasuredStep:
    """The spans of every rank; times from each rank's own begin of the step, which all begin together."""

    step: int
    grid: Grid
    spans: tuple[tuple[Span, ...], ...]  # by rank

    def timeline(self, replica: int = 0) -> Timeline:
        """The step of one replica, as a simulated one would be told."""
        ranks = self.grid.ranks_of_replica(replica)
        events = [_event(stage, span) for stage, rank in enumerate(ranks) for span in self.spans[rank]]
        return build_timeline(events, num_stages=len(ranks))

    def chrome_trace(self) -> dict[str, Any]:
        """For chrome://tracing and Perfetto: a process a replica, a thread a stage, times in microseconds."""
        events: list[Mapping[str, object]] = []
        for rank, spans in enumerate(self.spans):
            place = {"pid": self.grid.replica_of(rank), "tid": self.grid.stage_of(rank)}
            events.append({"ph": "M", "name": "thread_name", **place, "args": {"name": f"stage {place['tid']}"}})
            events.append({"ph": "M", "name": "process_name", **place, "args": {"name": f"replica {place['pid']}"}})
            events += [{**_trace_event(span), **place} for span in spans]
        return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": {"step": self.step}}


def gather_step(step: int, spans: Sequence[Span], world: World) -> MeasuredStep | None:
    """The step of all ranks on rank 0, None on the others and where there was none; every rank calls this."""
    gathered = world.control.gather(json.dumps([asdict(span) for span in spans]).encode())
    if not gathered or not spans:
        return None
    return MeasuredStep(step, world.grid, tuple(tuple(Span(**span) for span in json.loads(part)) for part in gathered))


def _event(stage: int, span: Span) -> Event:
    return Event(stage, span.chunk, span.micro_batch, span.kind, span.start_s, span.end_s)


def _trace_event(span: Span) -> dict[str, object]:
    return {
        "ph": "X",
        "name": f"{span.kind} {span.micro_batch}",
        "cat": span.kind,
        "ts": round(span.start_s * 1e6, 1),
        "dur": round((span.end_s - span.start_s) * 1e6, 1),
        "args": {"micro_batch": span.micro_batch, "chunk": span.chunk},
    }
