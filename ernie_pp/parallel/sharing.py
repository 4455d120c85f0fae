"""The forward pass of all ranks together: each replica computes its share, and every rank gets all answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
from safetensors.numpy import load, save

from ernie_pp.data.batches import MicroBatch
from ernie_pp.parallel.rounds import Rounds
from ernie_pp.parallel.world import World

# Micro-batches a replica computes between two exchanges: a pipeline fills and empties once for so many, and its first
# stages may be ahead of the last by as many.
AT_ONCE = 16


def forward_together(rounds: Rounds, micro_batches: Iterable[MicroBatch], world: World) -> Iterator[np.ndarray]:
    """Float32 logits of each micro-batch, in turn, the same on every rank; all ranks give the same micro-batches."""
    if world.grid.num_ranks == 1:
        yield from rounds.forward(micro_batches)
        return
    replicas, everything = world.grid.replicas, iter(micro_batches)
    while group := list(itertools.islice(everything, AT_ONCE * replicas)):
        own = {}
        for index, logits in enumerate(rounds.forward(group[world.replica :: replicas])):
            own[str(world.replica + index * replicas)] = logits
            world.beats.beat()  # the group may take longer than a rank may show no progress
        gathered = world.control.gather(save(own))
        found = {name: logits for value in gathered for name, logits in load(value).items()}
        found = load(world.control.broadcast(save(found)))
        yield from (found[str(index)] for index in range(len(group)))
