"""Which rank does what: plain numbers, the same on every rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ernie_pp.errors import ConfigError
from ernie_pp.partition.order import Schedule

RankOrder = Literal["fleet", "stages"]
GradientType = Literal["fp32", "fp16", "bf16"]


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


def check_gradient_type(gradient_type: GradientType, *, is_cpu: bool) -> None:
    """ConfigError for a number type in which replicas cannot sum their gradients."""
    if is_cpu and gradient_type == "fp16":
        # Paddle 3.3 sums float16 over gloo as if the bits were another number's: 0.01 + 0.02 is infinite.
        what = "is fp16, and sums over the processes of a CPU come out infinite in it"
        raise ConfigError("parallel.gradient_type", what, "Set parallel.gradient_type to bf16 or fp32.")


def share_out(sizes: Mapping[str, int], *, num_shares: int) -> dict[str, int]:
    """The share of each name, so that the sums of sizes are nearly equal: the largest first, each to the lightest."""
    weights, owners = [0] * num_shares, {}
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        owners[name] = weights.index(min(weights))
        weights[owners[name]] += sizes[name]
    return owners


@dataclass(frozen=True)
class Layout:
    """How the layers are cut for a grid, and in which order a step's work is done.

    `boundaries` are the first layers of the parts and the end; part p belongs to stage p modulo the number of stages.
    None: one part, the whole model. `recomputed` are layers of the whole stack.
    """

    boundaries: tuple[int, ...] | None = None
    recomputed: frozenset[int] = frozenset()
    virtual_stages: int = 1
    schedule: Schedule = "1f1b"

    def parts_of(self, stage: int, *, num_stages: int, num_layers: int) -> list[range]:
        """The layers of each part that a stage holds, in the order of its chunks."""
        bounds = self.boundaries or (0, num_layers)
        starts = range(stage, len(bounds) - 1, num_stages)
        return [range(bounds[part], bounds[part + 1]) for part in starts]
