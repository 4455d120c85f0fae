"""Seconds of a whole optimizer step: the pipeline's timeline, the replicas' gradients, the update."""

from __future__ import annotations

from itertools import pairwise

from ernie_pp.partition.costs import StackCosts
from ernie_pp.partition.cut import Cut
from ernie_pp.partition.order import Pipeline
from ernie_pp.partition.simulate import Timeline, simulate


def cut_timeline(costs: StackCosts, cut: Cut, pipeline: Pipeline) -> Timeline:
    """The timeline of a cut."""
    transfer_s = cut_transfers(costs, cut)
    return simulate(pipeline, forward_s=cut.part_forward_s, backward_s=cut.part_backward_s, transfer_s=transfer_s)


def cut_transfers(costs: StackCosts, cut: Cut) -> tuple[float, ...]:
    """Seconds of one message over each boundary."""
    return tuple(costs.link.transfer_s(costs.layers[end - 1].output_bytes) for end in cut.boundaries[1:-1])


def after_timeline_s(costs: StackCosts, cut: Cut, pipeline: Pipeline, *, replicas: int) -> float:
    """What follows the last backward pass, on the stage with the most weights; the stages do it at once."""
    sizes = [sum(layer.parameter_bytes for layer in costs.layers[start:end]) for start, end in pairwise(cut.boundaries)]
    num_stages, device = pipeline.num_stages, costs.device
    most = max(sum(sizes[stage::num_stages]) for stage in range(num_stages))
    # In a ring each replica sends its gradients round in shares, once to sum them and once to spread the sums.
    reduce_s = 2 * (replicas - 1) / replicas * most / device.reduce_bytes_per_s
    return most * device.update_s_per_byte + reduce_s + device.step_s


def step_seconds(costs: StackCosts, cut: Cut, pipeline: Pipeline) -> float:
    """A step of one replica."""
    return cut_timeline(costs, cut, pipeline).step_s + after_timeline_s(costs, cut, pipeline, replicas=1)
