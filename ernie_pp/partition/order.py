"""In which order each stage of Paddle Fleet's schedules computes, receives and sends.

Part `chunk * num_stages + stage` of the layers is the stage's chunk number `chunk`; without virtual stages the parts
are the stages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from ernie_pp.errors import ConfigError

Schedule = Literal["1f1b", "f_then_b"]
Kind = Literal["forward", "backward"]
# Fleet demands more than two.
LEAST_INTERLEAVED_STAGES = 3


class Work(NamedTuple):
    """One pass of a micro-batch through a part; as a message: what that pass has to wait for."""

    kind: Kind
    part: int
    micro_batch: int


class Instruction(NamedTuple):
    """`wait` until the input of a work is there, `run` a work, `send` what a work on a neighbour waits for."""

    verb: Literal["wait", "run", "send"]
    work: Work


Program = tuple[Instruction, ...]


@dataclass(frozen=True)
class Pipeline:
    """The numbers a schedule is made from."""

    num_stages: int
    num_micro_batches: int
    schedule: Schedule = "1f1b"
    virtual_stages: int = 1

    @property
    def num_parts(self) -> int:
        """Runs of layers that the stack is cut into."""
        return self.num_stages * self.virtual_stages


def check_pipeline(pipeline: Pipeline) -> None:
    """ConfigError for what no schedule takes, or Fleet's does not."""
    for name in ("num_stages", "num_micro_batches", "virtual_stages"):
        if getattr(pipeline, name) < 1:
            key = f"parallel.{name.removeprefix('num_')}"
            raise ConfigError(key, f"is {getattr(pipeline, name)}, at least 1 was expected", "Give a larger number.")
    if pipeline.schedule not in ("1f1b", "f_then_b"):
        what = f"is {pipeline.schedule!r}, expected one of: 1f1b, f_then_b"
        raise ConfigError("parallel.schedule", what, "Give one of these.")
    if pipeline.virtual_stages > 1:
        _check_chunks(pipeline)


def may_interleave(pipeline: Pipeline) -> bool:
    """Whether Fleet deals so many micro-batches out to chunks on so many stages."""
    count, num_stages = pipeline.num_micro_batches, pipeline.num_stages
    return num_stages >= LEAST_INTERLEAVED_STAGES and count % num_stages == 0 and count >= _fewest(pipeline)


def programs(pipeline: Pipeline) -> tuple[Program, ...]:
    """What each stage does, one instruction after the other."""
    return _programs(pipeline)


def held_chunks(pipeline: Pipeline, stage: int) -> tuple[tuple[int, ...], ...]:
    """Micro-batches a stage holds between forward and backward at its fullest moments, one number a chunk.

    Without chunks there is one such moment; with them, moments of which none holds the most of every chunk.
    """
    if pipeline.virtual_stages == 1:
        most = pipeline.num_micro_batches
        return ((min(pipeline.num_stages - stage, most) if pipeline.schedule == "1f1b" else most,),)
    return _held_chunks(pipeline, stage)


def _check_chunks(pipeline: Pipeline) -> None:
    stages, micro_batches = pipeline.num_stages, pipeline.num_micro_batches
    if stages < LEAST_INTERLEAVED_STAGES:
        least = f"Fleet interleaves {LEAST_INTERLEAVED_STAGES} stages or more"
        what = f"is {pipeline.virtual_stages} with {stages} stages, {least}"
        raise ConfigError("parallel.virtual_stages", what, "Take more stages, or virtual_stages: 1.")
    if not may_interleave(pipeline):
        fewest = _fewest(pipeline)
        what = f"is {micro_batches}, virtual stages need a multiple of the {stages} stages, at least {fewest}"
        raise ConfigError("parallel.micro_batches", what, "Take another number of micro-batches, or virtual_stages: 1.")


def _fewest(pipeline: Pipeline) -> int:
    """Micro-batches below which Fleet would take another schedule than the one asked for."""
    return pipeline.num_stages if pipeline.schedule == "f_then_b" else 2 * pipeline.num_stages


@lru_cache(maxsize=64)
def _programs(pipeline: Pipeline) -> tuple[Program, ...]:
    check_pipeline(pipeline)
    make = _f_then_b if pipeline.schedule == "f_then_b" else _interleaved if pipeline.virtual_stages > 1 else _1f1b
    return tuple(_without_ends(make(pipeline, stage), pipeline.num_parts) for stage in range(pipeline.num_stages))


def _1f1b(pipeline: Pipeline, stage: int) -> list[Instruction]:
    """Stage 1 of 3:  F0 | F1 B0 | F2 B1 | B2, first the forward passes that fill the stages below it."""
    count = pipeline.num_micro_batches
    warm = min(pipeline.num_stages - 1 - stage, count)
    forward = [Work("forward", stage, index) for index in range(count)]
    backward = [Work("backward", stage, index) for index in range(count)]
    steps = [step for work in forward[:warm] for step in (_wait(work), _run(work), _send(work))]
    steps += [_wait(work) for work in forward[warm : warm + 1]]
    for index in range(count - warm):
        steps += [_run(forward[warm + index]), _send(forward[warm + index])]
        steps += [_wait(backward[index]), _run(backward[index])]
        # Fleet receives the next input before it sends this gradient.
        steps += [_wait(work) for work in forward[warm + index + 1 : warm + index + 2]]
        steps += [_send(backward[index])]
    return steps + [step for work in backward[count - warm :] for step in (_wait(work), _run(work), _send(work))]


def _interleaved(pipeline: Pipeline, stage: int) -> list[Instruction]:
    """Pairs of a forward and a backward pass; only after both Fleet sends both results and waits for both inputs."""
    forward, backward = _chunked_works(pipeline, stage, group=pipeline.num_stages)
    warm = 2 * (pipeline.num_stages - 1 - stage) + (pipeline.virtual_stages - 1) * pipeline.num_stages
    steps = [_wait(forward[0])]
    for index in range(warm):
        steps += [_run(forward[index]), _send(forward[index]), _wait(forward[index + 1])]
    steps += [_wait(backward[0])]
    num_pairs = len(forward) - warm
    for index in range(num_pairs):
        pair = (forward[warm + index], backward[index])
        steps += [*map(_run, pair), *map(_send, pair)]
        steps += [_wait(work) for work in forward[warm + index + 1 : warm + index + 2]]
        steps += [_wait(work) for work in backward[index + 1 : index + 2]]
    for index in range(num_pairs, len(backward)):
        steps += [_run(backward[index]), _send(backward[index])]
        steps += [_wait(work) for work in backward[index + 1 : index + 2]]
    return steps


def _f_then_b(pipeline: Pipeline, stage: int) -> list[Instruction]:
    """All forward passes, chunk by chunk, then all backward passes."""
    forward, backward = _chunked_works(pipeline, stage, group=pipeline.num_micro_batches)
    steps: list[Instruction] = []
    for works, last in ((forward, pipeline.num_stages - 1), (backward, 0)):
        # What goes round from the last stage to the first is sent late, when the first is about to need it.
        late = pipeline.num_micro_batches - pipeline.num_stages if stage == last and pipeline.virtual_stages > 1 else 0
        for index, work in enumerate(works):
            steps += [_wait(work), _run(work)]
            steps += [_send(works[index - late])] if index >= late else []
    return steps


def _chunked_works(pipeline: Pipeline, stage: int, *, group: int) -> tuple[list[Work], list[Work]]:
    """Forward and backward passes in order: `group` micro-batches through each chunk, then the next `group`."""
    chunks, count, num_stages = pipeline.virtual_stages, pipeline.num_micro_batches, pipeline.num_stages
    forward = [
        Work("forward", chunk * num_stages + stage, first + index)
        for first in range(0, count, group)
        for chunk in range(chunks)
        for index in range(group)
    ]
    last = (chunks - 1) * num_stages + 2 * stage
    return forward, [Work("backward", last - work.part, work.micro_batch) for work in forward]


def _wait(work: Work) -> Instruction:
    return Instruction("wait", work)


def _run(work: Work) -> Instruction:
    return Instruction("run", work)


def _send(work: Work) -> Instruction:
    """The result of a work, named by the work it is the input of."""
    step = 1 if work.kind == "forward" else -1
    return Instruction("send", Work(work.kind, work.part + step, work.micro_batch))


def _without_ends(steps: list[Instruction], num_parts: int) -> Program:
    """The first part's input and the last part's gradient come from no stage, what they yield goes to none."""
    return tuple(step for step in steps if step.verb == "run" or _is_message(step.work, num_parts))


def _is_message(work: Work, num_parts: int) -> bool:
    return 0 < work.part < num_parts if work.kind == "forward" else 0 <= work.part < num_parts - 1


@lru_cache(maxsize=1024)
def _held_chunks(pipeline: Pipeline, stage: int) -> tuple[tuple[int, ...], ...]:
    counts, fullest = [0] * pipeline.virtual_stages, set()
    for verb, work in programs(pipeline)[stage]:
        if verb == "run":
            counts[work.part // pipeline.num_stages] += 1 if work.kind == "forward" else -1
            fullest.add(tuple(counts))
    return tuple(sorted(one for one in fullest if not any(_is_below(one, other) for other in fullest)))


def _is_below(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one != other and all(mine <= theirs for mine, theirs in zip(one, other, strict=True))
