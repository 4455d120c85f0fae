"""Saving a checkpoint by all ranks together.

every rank                          rank 0
  looks at its state   -- gather -->  nothing unsound? room? a temporary folder
                     <-- broadcast --
  writes, syncs, hashes
  its files            -- gather -->  all there? trainer.json, manifest.json, rename
                     <-- broadcast --
No rank raises on its own in between: what it could not do is part of what it says, so that all take the same way.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from ernie_pp.errors import NumericError, RunError
from ernie_pp.parallel.engine import EngineState
from ernie_pp.parallel.world import World
from ernie_pp.training.checkpoint import folders
from ernie_pp.training.checkpoint.finish import Contents, finish, origin_of
from ernie_pp.training.checkpoint.names import temporary_name
from ernie_pp.training.checkpoint.reports import (
    Answer,
    Report,
    decode_answer,
    decode_findings,
    decode_report,
    encode_answer,
    encode_findings,
    encode_report,
    first_failure,
    reason_of_failure,
)
from ernie_pp.training.checkpoint.shards import Shard, WrittenShard, shards_of, write_shard
from ernie_pp.training.checkpoint.soundness import find_fault, look_at

LOG = logging.getLogger("ernie_pp")
_MAX_FAILURES = 2


class Checkpoints:
    """Saves the checkpoints of one run; every rank of `world` makes the same calls."""

    def __init__(
        self, root: Path, *, world: World, keep: int, identity: Mapping[str, object], is_sharded: bool = False
    ) -> None:
        """`keep` newest ones stay; `identity` is told in each; `is_sharded`: replicas share an optimizer out."""
        self.root, self.world, self.keep = root, world, keep
        self.is_sharded = is_sharded
        grid = {"stages": world.grid.stages, "replicas": world.grid.replicas, "is_sharded": is_sharded}
        self._origin = origin_of(grid, dict(identity))
        self._num_failures = 0  # in a row
        if world.is_writer:
            folders.tidy(root)

    def save(self, step: int, *, state: EngineState, trainer: Mapping[str, object], best_step: int | None) -> bool:
        """Whether it was committed: False, with a warning, where it could not be written.

        `state` is what this rank holds: weights are the same on all replicas of a stage, and the optimizer too unless
        `is_sharded`. `trainer` counts on rank 0. RunError the second time in a row; NumericError, with nothing
        written, where a value is not finite or replicas differ. All ranks get the same outcome, and older checkpoints
        stay whole in any case.
        """
        failure = self._save(step, state, trainer)
        if failure is not None:
            self._note_failure(step, failure)
            return False
        self._num_failures = 0
        if self.world.is_writer:
            self._prune({step} if best_step is None else {step, best_step})
        return True

    def _save(self, step: int, state: EngineState, trainer: Mapping[str, object]) -> str | None:
        """Why it was not committed; None where it was."""
        shards = shards_of(state, self.world, is_sharded=self.is_sharded)
        answer = self._begin(step, state, shards)
        if answer.fault is not None:
            what = f"{answer.fault.what}; no checkpoint of step {step} is written"
            raise NumericError(answer.fault.where, what, "The checkpoints before it are whole.")
        if answer.failure is not None:
            return answer.failure
        folder = self.root / answer.folder
        try:
            return self._fill(folder, shards, Contents(step, dict(trainer), dict(state.scalars)))
        finally:
            if self.world.is_writer:
                folders.remove(folder)  # it is gone already where all went well

    def _begin(self, step: int, state: EngineState, shards: Sequence[Shard]) -> Answer:
        """The folder to write into, or why not to write."""
        num_bytes = sum(shard.num_bytes for shard in shards)
        findings = look_at(state, has_replicas=self.world.grid.replicas > 1, num_bytes=num_bytes)
        gathered = self.world.control.gather(encode_findings(findings))
        answer = self._open_folder(step, gathered) if self.world.is_writer else Answer()
        return decode_answer(self.world.control.broadcast(encode_answer(answer)))

    def _open_folder(self, step: int, gathered: Sequence[bytes]) -> Answer:
        findings = [decode_findings(content) for content in gathered]
        fault = find_fault(findings, self.world.grid)
        if fault is not None:
            return Answer(fault=fault)
        folder, num_bytes = self.root / temporary_name(step), sum(found.num_bytes for found in findings)
        failure = reason_of_failure(lambda: folders.begin(folder, num_bytes=num_bytes))
        return Answer(failure=failure) if failure is not None else Answer(folder=folder.name)

    def _fill(self, folder: Path, shards: Sequence[Shard], contents: Contents) -> str | None:
        """Write, and commit where every rank has written; why it was not committed."""
        gathered = self.world.control.gather(encode_report(self._write(folder, shards)))
        failure = self._commit(folder, gathered, contents) if self.world.is_writer else None
        return decode_answer(self.world.control.broadcast(encode_answer(Answer(failure=failure)))).failure

    def _write(self, folder: Path, shards: Sequence[Shard]) -> Report:
        written: list[WrittenShard] = []

        def write() -> None:
            if not folder.is_dir():
                what = "is not there: rank 0 made it, on a disk that this rank does not see"
                raise RunError(str(folder), what, "Put output_dir on a disk that all machines share.")
            for shard in shards:
                written.append(write_shard(folder, shard))
                self.world.beats.beat()

        failure = reason_of_failure(write)
        return Report(tuple(written), failure) if failure is None else Report(failure=failure)

    def _commit(self, folder: Path, gathered: Sequence[bytes], contents: Contents) -> str | None:
        reports = [decode_report(content) for content in gathered]
        failure = first_failure(reports)
        if failure is not None:
            return failure
        shards = [shard for report in reports for shard in report.shards]

        def commit() -> None:
            finish(folder, shards, contents, origin=self._origin)
            folders.commit(folder, contents.step)

        return reason_of_failure(commit)

    def _prune(self, spared: Collection[int]) -> None:
        why = reason_of_failure(lambda: folders.prune(self.root, keep=self.keep, spared=spared))
        if why is not None:
            LOG.warning("An old checkpoint could not be removed: %s", why)

    def _note_failure(self, step: int, failure: str) -> None:
        self._num_failures += 1
        if self._num_failures >= _MAX_FAILURES:
            what = f"the checkpoint of step {step} could not be written, and the one before it neither: {failure}"
            do = "The older checkpoints are whole: make room on the disk or check the rights, and go on from there."
            raise RunError(str(self.root), what, do)
        if self.world.is_writer:
            LOG.warning("The checkpoint of step %d could not be written, training goes on: %s", step, failure)
