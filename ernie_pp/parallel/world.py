"""This process among the processes of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ernie_pp.parallel.beats import Beats
from ernie_pp.parallel.control import Alone, Control
from ernie_pp.parallel.topology import Grid

if TYPE_CHECKING:
    from paddle.distributed.communication.group import Group


Launcher = Literal["none", "ours", "other"]


@dataclass(frozen=True)
class World:
    """The grid of a run, this process's place in it, and its way to talk to the others."""

    grid: Grid = field(default_factory=Grid)
    control: Control = field(default_factory=Alone)
    replica_group: Group | None = None  # the replicas of this stage
    host: str = "127.0.0.1"  # where other ranks reach this process
    is_cpu: bool = True
    beats: Beats = field(default_factory=Beats)
    launcher: Launcher = "none"  # who started this process, and kills it where it must end at once

    @property
    def rank(self) -> int:
        """This process, counted from 0."""
        return self.control.rank

    @property
    def is_writer(self) -> bool:
        """Whether this process writes the run folder."""
        return self.rank == 0

    @property
    def stage(self) -> int:
        """The pipeline stage of this process."""
        return self.grid.stage_of(self.rank)

    @property
    def replica(self) -> int:
        """The replica of this process."""
        return self.grid.replica_of(self.rank)
