"""A step's work in time: who computes when, by Paddle Fleet's schedules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ernie_pp.partition.order import Kind, Pipeline, Program, Work, programs

# Of every part: one number, or one a micro-batch.
PartTimes = Sequence[float] | Sequence[Sequence[float]]


@dataclass(frozen=True)
class Event:
    """One pass of a micro-batch through a chunk of a stage; times in seconds from the step's begin."""

    stage: int
    chunk: int
    micro_batch: int
    kind: Kind
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Timeline:
    """A whole step. `events` are in the order in which they start, those of one moment by stage."""

    events: tuple[Event, ...]
    step_s: float
    bubble_share: float  # of all stages' time, what they do not compute in
    in_flight: tuple[int, ...]  # most micro-batches (of a chunk each) that a stage holds


def simulate(
    pipeline: Pipeline, *, forward_s: PartTimes, backward_s: PartTimes, transfer_s: Sequence[float]
) -> Timeline:
    """The timeline of one step of one replica.

    `forward_s` and `backward_s` have a number a part, or a row of one number a micro-batch; `transfer_s` one a boundary
    between two parts, for the activations and again for their gradients. A transfer runs beside the computing and
    holds up only the next one on its link; a stage waits for what it receives.
    """
    stage_programs = programs(pipeline)
    times: dict[Kind, list[Sequence[float]]] = {
        "forward": _rows(forward_s, pipeline, name="forward_s"),
        "backward": _rows(backward_s, pipeline, name="backward_s"),
    }
    if len(transfer_s) != pipeline.num_parts - 1:
        raise ValueError(f"transfer_s has {len(transfer_s)} numbers, expected one a boundary: {pipeline.num_parts - 1}")
    return build_timeline(
        _Run(stage_programs, times=times, transfer_s=transfer_s).events(), num_stages=pipeline.num_stages
    )


def build_timeline(events: Sequence[Event], *, num_stages: int) -> Timeline:
    """The timeline of a replica's events; those of one stage are given in its own order."""
    step_s = max((event.end_s for event in events), default=0.0)
    busy_s = sum(event.end_s - event.start_s for event in events)
    bubble_share = 1 - busy_s / (num_stages * step_s) if step_s else 0.0
    in_flight = tuple(_most_held(event for event in events if event.stage == stage) for stage in range(num_stages))
    in_time = sorted(events, key=lambda event: (event.start_s, event.stage, event.end_s))
    return Timeline(tuple(in_time), step_s, bubble_share, in_flight)


def _rows(times: PartTimes, pipeline: Pipeline, *, name: str) -> list[Sequence[float]]:
    if len(times) != pipeline.num_parts:
        raise ValueError(f"{name} has {len(times)} parts, expected stages x virtual stages: {pipeline.num_parts}")
    count = pipeline.num_micro_batches
    rows = [row if isinstance(row, Sequence) else (row,) * count for row in times]
    if any(len(row) != count for row in rows):
        raise ValueError(f"{name} has rows of {sorted({len(row) for row in rows})} numbers, expected {count}")
    return rows


class _Run:
    """The stages as they go through their programs, each as far as it can before another has its turn."""

    def __init__(
        self,
        stage_programs: Sequence[Program],
        *,
        times: Mapping[Kind, Sequence[Sequence[float]]],
        transfer_s: Sequence[float],
    ) -> None:
        self.programs, self.num_stages = stage_programs, len(stage_programs)
        self.times, self.transfer_s = times, transfer_s
        self.now, self.next = [0.0] * self.num_stages, [0] * self.num_stages
        self.arrivals: dict[Work, float] = {}
        self.links: dict[tuple[int, int], float] = {}  # when the way from one stage to another is free
        self.done: list[Event] = []

    def events(self) -> list[Event]:
        """All works; a stage's own in order."""
        ready = list(range(self.num_stages))
        while ready:
            ready = sorted({other for stage in ready for other in self._go_on(stage)})
        unfinished = [stage for stage, program in enumerate(self.programs) if self.next[stage] < len(program)]
        assert not unfinished, f"the programs of stages {unfinished} wait for each other"
        return self.done

    def _go_on(self, stage: int) -> set[int]:
        """Let a stage work until it waits for what nobody has sent yet; the stages that were sent something."""
        reached = set()
        program = self.programs[stage]
        while self.next[stage] < len(program):
            verb, work = program[self.next[stage]]
            if verb == "wait":
                if work not in self.arrivals:
                    break
                self.now[stage] = max(self.now[stage], self.arrivals[work])
            elif verb == "run":
                self._compute(stage, work)
            else:
                self._send(stage, work)
                reached.add(work.part % self.num_stages)
            self.next[stage] += 1
        return reached

    def _compute(self, stage: int, work: Work) -> None:
        start = self.now[stage]
        end = self.now[stage] = start + self.times[work.kind][work.part][work.micro_batch]
        self.done.append(Event(stage, work.part // self.num_stages, work.micro_batch, work.kind, start, end))

    def _send(self, stage: int, work: Work) -> None:
        boundary = work.part - 1 if work.kind == "forward" else work.part
        link = (stage, work.part % self.num_stages)
        end = max(self.now[stage], self.links.get(link, 0.0)) + self.transfer_s[boundary]
        self.arrivals[work] = self.links[link] = end


def _most_held(events: Iterable[Event]) -> int:
    held = most = 0
    for event in events:
        held += 1 if event.kind == "forward" else -1
        most = max(most, held)
    return most
