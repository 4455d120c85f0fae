"""Plans for given settings, and the search for the fastest ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ernie_pp.byte_sizes import format_bytes
from ernie_pp.errors import ConfigError
from ernie_pp.partition.costs import StackCosts
from ernie_pp.partition.cut import Cut, best_cut, cut_along, least_needs
from ernie_pp.partition.order import Pipeline, Schedule
from ernie_pp.partition.parts import Parts, Recompute, Wanted
from ernie_pp.partition.plan_record import Plan
from ernie_pp.partition.solve import solve_wanted
from ernie_pp.partition.step_time import after_timeline_s, cut_timeline, cut_transfers

# Costs of a micro-batch of so many rows.
CostOf = Callable[[int], StackCosts]

_CHUNKS = (1, 2, 3)


def make_plan(
    costs: StackCosts,
    *,
    rows_per_micro_batch: int,
    length: int,
    stages: int = 1,
    replicas: int = 1,
    micro_batches: int = 1,
    virtual_stages: int = 1,
    schedule: Schedule = "1f1b",
    recompute: Recompute = "none",
    memory_bytes: int | None = None,
    boundaries: Sequence[int] | None = None,
    batch_size: int | None = None,
) -> Plan:
    """The plan of one grid: the best cut, or the given `boundaries` (0, the first layer of each further part, the end).

    `costs` are those of a micro-batch of `rows_per_micro_batch` rows of `length` tokens. `batch_size` says how many
    rows a step has where that is not the product of rows, micro-batches and replicas. ConfigError where nothing fits.
    """
    pipeline = Pipeline(stages, micro_batches, schedule, virtual_stages)
    wanted = Wanted(pipeline, memory_bytes, recompute)
    cut = solve_wanted(costs, wanted) if boundaries is None else _given_cut(costs, wanted, tuple(boundaries))
    plan = _plan(costs, cut, pipeline, replicas=replicas, rows=rows_per_micro_batch, length=length)
    return plan if batch_size is None else replace(plan, tokens_per_s=batch_size * length / plan.step_s)


def search(
    cost_of: CostOf,
    *,
    num_devices: int,
    batch_size: int,
    length: int,
    memory_bytes: int | None,
    max_stages: int | None = None,
    recompute: Recompute = "auto",
) -> list[Plan]:
    """Every plan that fits, fastest first; of equally fast ones that with fewer devices, then fewer stages.

    Looked at are stages x replicas of up to `num_devices`, micro-batches of equal rows that make up `batch_size`, and
    the schedules 1F1B and interleaved 1F1B. "auto" recomputes what memory asks for: nothing, some or all blocks.
    """
    if batch_size < 1 or num_devices < 1:
        raise ValueError(f"batch_size is {batch_size}, num_devices {num_devices}; at least 1 each was expected")
    costs = {rows: cost_of(rows) for rows in range(1, batch_size + 1) if batch_size % rows == 0}
    most_stages = min(num_devices, max_stages or num_devices, len(next(iter(costs.values())).layers))
    plans = []
    for rows, stack in costs.items():
        for pipeline, replicas in _grids(len(stack.layers), batch_size // rows, num_devices, most_stages):
            cut = best_cut(Parts(stack, Wanted(pipeline, memory_bytes, recompute)))
            if cut is not None:
                plans.append(_plan(stack, cut, pipeline, replicas=replicas, rows=rows, length=length))
    return sorted(plans, key=_rank)


def nowhere_fits(cost_of: CostOf, *, num_devices: int, memory_bytes: int) -> ConfigError:
    """The error where `search` finds nothing: what the finest cut of single rows needs."""
    costs = cost_of(1)
    need = max(least_needs(_unlimited(costs, Pipeline(min(num_devices, len(costs.layers)), num_devices))))
    what = (
        f"is {format_bytes(memory_bytes)} of a device; cut over {num_devices} devices, with one row a micro-batch and "
        f"blocks recomputed, a stage still needs {format_bytes(need)}, {format_bytes(need - memory_bytes)} more"
    )
    return ConfigError("parallel.memory", what, "Take more devices, shorter rows (text.max_length) or a smaller model.")


def why_one_device(plans: Sequence[Plan], *, cost_of: CostOf, memory_bytes: int | None) -> str:
    """One sentence: whether one device would do, and how fast it is beside the first of `plans` (best first)."""
    alone = next((plan for plan in plans if plan.num_devices == 1), None)
    if alone is None:
        need = max(least_needs(_unlimited(cost_of(1), Pipeline(1, 1))))
        if memory_bytes is None or need <= memory_bytes:
            return "One device was not among the plans."
        lack = f"{format_bytes(need - memory_bytes)} more than the {format_bytes(memory_bytes)} it has"
        return (
            "One device would not do: even with one row a micro-batch and blocks recomputed it needs "
            f"{format_bytes(need)}, {lack}."
        )
    speed = f"{alone.tokens_per_s:,.0f} tokens/s with {format_bytes(alone.stage_bytes[0])}"
    if plans[0].num_devices == 1:
        return f"One device does it best: {speed}; more would wait for each other longer than they save."
    times = plans[0].tokens_per_s / alone.tokens_per_s
    return f"One device would do, at {speed}; the best plan is {times:.2f} times as fast on {plans[0].num_devices}."


def _given_cut(costs: StackCosts, wanted: Wanted, boundaries: tuple[int, ...]) -> Cut:
    parts, num_layers = Parts(costs, wanted), len(costs.layers)
    grows = all(start < end for start, end in pairwise(boundaries))
    if len(boundaries) != parts.num_parts + 1 or (boundaries[0], boundaries[-1]) != (0, num_layers) or not grows:
        what = f"is {list(boundaries)}, expected {parts.num_parts + 1} growing numbers from 0 to {num_layers}"
        raise ConfigError("parallel.boundaries", what, "Correct them, or leave them out: the best cut is found.")
    cut = cut_along(parts, boundaries)
    if cut is None:
        assert wanted.memory_bytes is not None, "without a limit every cut fits"
        limit = format_bytes(wanted.memory_bytes)
        what = f"is {list(boundaries)}: a stage needs more than the {limit} of a device"
        raise ConfigError("parallel.boundaries", what, "Leave them out: a cut that fits is looked for.")
    return cut


def _plan(costs: StackCosts, cut: Cut, pipeline: Pipeline, *, replicas: int, rows: int, length: int) -> Plan:
    line = cut_timeline(costs, cut, pipeline)
    step_s = line.step_s + after_timeline_s(costs, cut, pipeline, replicas=replicas)
    num_tokens = rows * length * pipeline.num_micro_batches * replicas
    return Plan(
        stages=pipeline.num_stages,
        replicas=replicas,
        micro_batches=pipeline.num_micro_batches,
        virtual_stages=pipeline.virtual_stages,
        schedule=pipeline.schedule,
        boundaries=cut.boundaries,
        recomputed=tuple(layer - 1 for layer in cut.recomputed),
        rows_per_micro_batch=rows,
        length=length,
        part_forward_s=cut.stage_forward_s,
        part_backward_s=cut.stage_backward_s,
        transfer_s=cut_transfers(costs, cut),
        step_s=step_s,
        bubble_share=line.bubble_share,
        stage_bytes=cut.stage_bytes,
        tokens_per_s=num_tokens / step_s if step_s else 0.0,
    )


def _grids(num_layers: int, num_micro_batches: int, num_devices: int, most: int) -> Iterator[tuple[Pipeline, int]]:
    """Pipelines, and how many of them, that share so many micro-batches evenly."""
    for stages in range(1, most + 1):
        for replicas in range(1, num_devices // stages + 1):
            if num_micro_batches % replicas:
                continue
            count = num_micro_batches // replicas
            for chunks in _CHUNKS:
                if chunks == 1 or _may_interleave(stages, count, chunks, num_layers):
                    yield Pipeline(stages, count, "1f1b", chunks), replicas


def _may_interleave(stages: int, count: int, chunks: int, num_layers: int) -> bool:
    return stages >= 3 and count % stages == 0 and count >= 2 * stages and stages * chunks <= num_layers


def _rank(plan: Plan) -> tuple:
    return (plan.step_s, plan.num_devices, plan.stages, plan.virtual_stages, plan.micro_batches, plan.boundaries)


def _unlimited(costs: StackCosts, pipeline: Pipeline) -> Parts:
    # A limit above all needs: without one there would be nothing to recompute for.
    return Parts(costs, Wanted(pipeline, 1 << 62, "auto"))
