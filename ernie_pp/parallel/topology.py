"""Which rank does what: plain numbers, the same on every rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RankOrder = Literal["fleet", "stages"]


@dataclass(frozen=True)
class Grid:
    """`stages` x `replicas` ranks.

    order "fleet" (2 stages, 4 replicas): stage 0 has ranks 0, 2, 4, 6, a replica's stages stand in a row.
    order "stages": stage 0 has ranks 0-3, stage 1 ranks 4-7, a stage's replicas stand in a row.
    """

    stages: int = 1
    replicas: int = 1
    order: RankOrder = "fleet"

    @property
    def num_ranks(self) -> int:
        """Processes in all."""
        return self.stages * self.replicas

    def stage_of(self, rank: int) -> int:
        """The stage a rank computes."""
        return rank % self.stages if self.order == "fleet" else rank // self.replicas

    def replica_of(self, rank: int) -> int:
        """The replica a rank belongs to."""
        return rank // self.stages if self.order == "fleet" else rank % self.replicas

    def rank_of(self, *, stage: int, replica: int) -> int:
        """The rank at a place."""
        return replica * self.stages + stage if self.order == "fleet" else stage * self.replicas + replica

    def ranks_of_stage(self, stage: int) -> list[int]:
        """The data-parallel group of a stage, by replica."""
        return [self.rank_of(stage=stage, replica=replica) for replica in range(self.replicas)]

    def ranks_of_replica(self, replica: int) -> list[int]:
        """The pipeline of a replica, by stage."""
        return [self.rank_of(stage=stage, replica=replica) for stage in range(self.stages)]
