"""Rules across the keys of `parallel` and `profile`: what contradicts, and what would have no effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ernie_pp.config.fields import is_set
from ernie_pp.config.merge import BESIDE_AUTO
from ernie_pp.config.schema import ParallelConfig, RunConfig

# Fleet's interleaved schedule asks for more than two stages.
LEAST_INTERLEAVED_STAGES = 3


def grid_rules(config: RunConfig) -> Iterator[str]:
    """What is wrong with the grid, each with what to do."""
    grid, sizes = config.parallel, config.model.sizes
    num_blocks = sizes.num_layers if sizes is not None else None
    if grid.auto:
        yield from _auto_rules(grid)
        return
    yield from _row_rules(grid, batch_size=config.train.batch_size)
    yield from _chunk_rules(grid)
    yield from _boundary_rules(grid, num_blocks=num_blocks)
    yield from _recompute_rules(grid, num_blocks=num_blocks)
    yield from _idle_rules(grid)


def _auto_rules(grid: ParallelConfig) -> Iterator[str]:
    given = [name for name in ParallelConfig.model_fields if name not in BESIDE_AUTO and is_set(grid, name)]
    if given:
        names = ", ".join(f"parallel.{name}" for name in given)
        yield f"{names} cannot stand beside parallel: auto, which plans them; drop them or the word auto"


def _row_rules(grid: ParallelConfig, *, batch_size: int) -> Iterator[str]:
    count = grid.micro_batches or 1
    if grid.replicas > batch_size:
        yield (
            f"parallel.replicas is {grid.replicas}, over train.batch_size {batch_size}: a replica would have no row; "
            "lower it or raise train.batch_size"
        )
    elif count * grid.replicas > batch_size:
        most = batch_size // grid.replicas
        yield (
            f"parallel.micro_batches {count} x parallel.replicas {grid.replicas} is over train.batch_size {batch_size}"
            f": a micro-batch would have no row; set parallel.micro_batches to {most} or less"
        )


def _chunk_rules(grid: ParallelConfig) -> Iterator[str]:
    stages, count = grid.stages, grid.micro_batches
    if grid.virtual_stages == 1:
        if grid.schedule == "f_then_b":
            yield "parallel.schedule f_then_b needs parallel.virtual_stages above 1; set it, or take schedule 1f1b"
        return
    if stages < LEAST_INTERLEAVED_STAGES:
        yield (
            f"parallel.virtual_stages {grid.virtual_stages} needs {LEAST_INTERLEAVED_STAGES} stages or more, and "
            f"parallel.stages is {stages}; set parallel.virtual_stages to 1"
        )
        return
    least = stages if grid.schedule == "f_then_b" else 2 * stages
    if count is None or count % stages or count < least:
        many = f", {least} or more," if least > stages else ""
        yield (
            f"parallel.micro_batches is {count}, and chunks (parallel.virtual_stages) with schedule {grid.schedule} "
            f"need a multiple of the {stages} stages{many} such as {max(least, stages * -(-(count or 0) // stages))}"
        )


def _boundary_rules(grid: ParallelConfig, *, num_blocks: int | None) -> Iterator[str]:
    num_parts = grid.stages * grid.virtual_stages
    num_layers = num_blocks + 2 if num_blocks is not None else None
    if num_layers is not None and num_parts > num_layers:
        yield (
            f"parallel.stages x parallel.virtual_stages is {num_parts}, and the model has {num_layers} layers "
            f"(embeddings, {num_blocks} blocks, head); ask for {num_layers} parts or fewer"
        )
    if grid.boundaries is None:
        return
    given = list(grid.boundaries)
    if num_parts == 1:
        yield "parallel.boundaries has no effect: one stage holds all layers; set parallel.stages or drop it"
        return
    if given[:1] != [0] or any(low >= high for low, high in pairwise(given)):
        yield f"parallel.boundaries are {given}, expected numbers that begin with 0 and increase"
    if len(given) not in (num_parts, num_parts + 1):
        yield (
            f"parallel.boundaries has {len(given)} numbers, expected the first layer of each of the {num_parts} parts "
            f"(stages x virtual_stages): {num_parts} numbers"
        )
    elif num_layers is not None:
        yield from _end_rules(given, num_parts=num_parts, num_layers=num_layers)


def _end_rules(given: Sequence[int], *, num_parts: int, num_layers: int) -> Iterator[str]:
    if len(given) > num_parts and given[-1] != num_layers:
        yield (
            f"parallel.boundaries end with {given[-1]}, and the model has {num_layers} layers; "
            f"end with {num_layers}, or leave the end out"
        )
    elif given[num_parts - 1] >= num_layers:
        last = num_layers - 1
        yield f"parallel.boundaries names layer {given[num_parts - 1]}, and the last layer, the head, is {last}"


def _recompute_rules(grid: ParallelConfig, *, num_blocks: int | None) -> Iterator[str]:
    blocks = grid.recompute
    if isinstance(blocks, str):
        return
    if not blocks or len(set(blocks)) < len(blocks) or min(blocks) < 0:
        yield f"parallel.recompute is {list(blocks)}, expected block numbers from 0, each once, or none, all, auto"
    elif num_blocks is not None and max(blocks) >= num_blocks:
        yield f"parallel.recompute names block {max(blocks)}, and the last block is {num_blocks - 1}"


def _idle_rules(grid: ParallelConfig) -> Iterator[str]:
    """Keys that would be read by nobody under this grid."""
    if grid.rank_order != "fleet" and (grid.stages == 1 or grid.replicas == 1):
        yield "parallel.rank_order has no effect: it needs parallel.stages and parallel.replicas above 1; drop it"
    for name in ("shard_optimizer", "gradient_type"):
        if is_set(grid, name) and grid.replicas == 1:
            yield f"parallel.{name} has no effect: it is about parallel.replicas, of which there is one; drop it"
    is_cut_here = grid.stages > 1 and grid.boundaries is None
    if grid.memory is not None and not is_cut_here and grid.recompute != "auto":
        yield (
            "parallel.memory has no effect: neither the cut nor what is recomputed is left to choose; "
            "set parallel.recompute: auto or drop it"
        )
