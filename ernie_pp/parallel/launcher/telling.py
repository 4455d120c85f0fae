"""What the user is told of ranks that failed: one line, after the messages of the ranks themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ernie_pp.errors import RanksFailed
from ernie_pp.parallel.beats import Beat
from ernie_pp.parallel.launcher.rank_files import last_lines, log_path
from ernie_pp.parallel.launcher.rank_processes import Launch
from ernie_pp.parallel.launcher.verdict import RankEnd, judge
from ernie_pp.parallel.stacks import stack_path
from ernie_pp.parallel.stall import EXIT_CODE, Stall
from ernie_pp.parallel.topology import Grid


def tell_failure(run: Launch, ends: Sequence[RankEnd], *, stacks: Sequence[int]) -> RanksFailed:
    """Of ranks that have ended: the first one to fail. `stacks`: ranks that still lived and wrote theirs."""
    verdict = judge(ends)
    first = verdict.first
    messages, where = verdict.messages, ""
    if first.rank:
        where = f"; its output: {log_path(run.folder, first.rank)}"
        messages = messages if first.record is not None else (*last_lines(run.folder, first.rank), *messages)
    line = f"{_name(run.grid, first.rank)} {verdict.phrase}{where}{_of_stacks(run, stacks)}"
    return RanksFailed(line, messages=messages, exit_code=first.exit_code)


def tell_stall(run: Launch, stall: Stall, beats: Mapping[int, Beat | None], *, stacks: Sequence[int]) -> RanksFailed:
    """Of ranks that make no progress: which one stopped first, which last."""
    named = [f"{word} {_at(run.grid, rank, beats)}" for word, rank in (("first", stall.least), ("last", stall.last))]
    line = f"no rank made progress for {stall.seconds:.0f} s (stop.stall_s): {', '.join(named)}"
    silent = ", ".join(str(rank) for rank in beats if rank not in stacks)
    silent = f"; no stacks came from rank {silent}: suspended, or hung in the system" if silent else ""
    return RanksFailed(f"{line}{_of_stacks(run, stacks)}{silent}", messages=(), exit_code=EXIT_CODE)


def _name(grid: Grid, rank: int) -> str:
    return f"rank {rank} (stage {grid.stage_of(rank)}, replica {grid.replica_of(rank)})"


def _at(grid: Grid, rank: int, beats: Mapping[int, Beat | None]) -> str:
    beat = beats.get(rank)
    return f"{_name(grid, rank)}{f' after step {beat.step}' if beat is not None else ''}"


def _of_stacks(run: Launch, ranks: Sequence[int]) -> str:
    return f"; stacks: {', '.join(str(stack_path(run.folder, rank)) for rank in ranks)}" if ranks else ""
