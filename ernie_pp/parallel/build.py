"""The parts of an engine that depend on the grid."""

from __future__ import annotations

from typing import Literal

from ernie_pp.errors import ConfigError
from ernie_pp.models.stack import ErnieStack
from ernie_pp.parallel.local import LocalRounds
from ernie_pp.parallel.part import Autocast, Part
from ernie_pp.parallel.pipeline import build_pipeline
from ernie_pp.parallel.replicas import GradientSum, OneReplica, ReplicaGroup
from ernie_pp.parallel.rounds import Rounds
from ernie_pp.parallel.stopwatch import Stopwatch
from ernie_pp.parallel.topology import Layout
from ernie_pp.parallel.world import World

_DTYPES: dict[str, Literal["float32", "float16", "bfloat16"]] = {
    "fp32": "float32",
    "fp16": "float16",
    "bf16": "bfloat16",
}


def build_rounds(stack: ErnieStack, *, casting: Autocast, world: World, layout: Layout, stopwatch: Stopwatch) -> Rounds:
    """What computes this process's share; `stack` keeps the layers of its stage only."""
    num_layers = len(stack.layers)
    parts = []
    ranges = layout.parts_of(world.stage, num_stages=world.grid.stages, num_layers=num_layers)
    for span in ranges:
        recomputed = [index for index, layer in enumerate(span) if layer in layout.recomputed]
        layers = [stack.layers[layer] for layer in span]
        parts.append(Part(layers, state=stack.dropout_state, casting=casting, recomputed=recomputed))
    stack.keep([layer for span in ranges for layer in span])
    if world.grid.stages == 1:
        return LocalRounds(parts[0], stopwatch)
    return build_pipeline(parts, world=world, layout=layout, stopwatch=stopwatch)


def build_replicas(world: World, *, gradient_type: Literal["fp32", "fp16", "bf16"]) -> GradientSum:
    """What sums gradients over the replicas of this process's stage; ConfigError for a type that cannot be summed."""
    if world.replica_group is None:
        return OneReplica()
    if world.is_cpu and gradient_type == "fp16":
        # Paddle 3.3 sums float16 over gloo as if the bits were another number's: 0.01 + 0.02 is infinite.
        what = "is fp16, and sums over the processes of a CPU come out infinite in it"
        raise ConfigError("parallel.gradient_type", what, "Set parallel.gradient_type to bf16 or fp32.")
    return ReplicaGroup(world.replica_group, world.control, dtype=_DTYPES[gradient_type])
