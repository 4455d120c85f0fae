"""The parts of an engine that depend on the grid."""

from __future__ import annotations

from typing import Literal

from ernie_pp.models.stack import ErnieStack
from ernie_pp.parallel.local import LocalRounds
from ernie_pp.parallel.part import Autocast, Part
from ernie_pp.parallel.pipeline import build_pipeline
from ernie_pp.parallel.replicas import GradientSum, OneReplica, ReplicaGroup
from ernie_pp.parallel.rounds import Rounds
from ernie_pp.parallel.stopwatch import Stopwatch
from ernie_pp.parallel.topology import GradientType, Layout, check_gradient_type
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


def build_replicas(world: World, *, gradient_type: GradientType) -> GradientSum:
    """What sums gradients over the replicas of this process's stage; ConfigError for a type that cannot be summed."""
    if world.replica_group is None:
        return OneReplica()
    check_gradient_type(gradient_type, is_cpu=world.is_cpu)
    return ReplicaGroup(world.replica_group, world.control, dtype=_DTYPES[gradient_type])
