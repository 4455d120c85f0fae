"""Plans for given settings, and the search for the fastest ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ernie_pp.byte_sizes import format_bytes
from ernie_pp.errors import ConfigError
from ernie_pp.partition.costs import StackCosts
from ernie_pp.partition.cut import Cut, best_cut, cut_along, least_needs
from ernie_pp.partition.order import Pipeline, may_interleave
from ernie_pp.partition.parts import Parts, Wanted, without_limit
from ernie_pp.partition.plan_record import Plan
from ernie_pp.partition.solve import solve
from ernie_pp.partition.step_time import after_timeline_s, cut_timeline, cut_transfers

# Costs of a micro-batch of so many rows.
CostOf = Callable[[int], StackCosts]

_CHUNKS = (1, 2, 3)
_MANY, _MOST = 128, 4096  # micro-batches of one pipeline


@dataclass(frozen=True)
class StepRows:
    """The rows of a step, and the replicas that share them; `batch_size` where it is not the product of the others."""

    rows_per_micro_batch: int
    length: int  # tokens of each row
    replicas: int = 1
    batch_size: int | None = None

    def num_tokens(self, micro_batches: int) -> int:
        """Tokens of a step in which each replica has so many micro-batches."""
        return (self.batch_size or self.rows_per_micro_batch * micro_batches * self.replicas) * self.length


def make_plan(costs: StackCosts, wanted: Wanted, rows: StepRows, *, boundaries: Sequence[int] | None = None) -> Plan:
    """The plan of one grid: the best cut, or the given `boundaries` (0, the first layer of each further part, the end).

    `costs` are those of one micro-batch of `rows`. ConfigError where nothing fits.
    """
    cut = solve(costs, wanted) if boundaries is None else _given_cut(costs, wanted, tuple(boundaries))
    return _plan(costs, cut, wanted.pipeline, rows)


def search(cost_of: CostOf, *, num_devices: int, batch_size: int, length: int, memory_bytes: int | None) -> list[Plan]:
    """Every plan that fits, fastest first; of equally fast ones that with fewer devices, then fewer stages.

    Looked at are stages x replicas of up to `num_devices`, micro-batches of equal rows that make up `batch_size`, and
    the schedules 1F1B and interleaved 1F1B; recomputed is what memory asks for: nothing, some or all blocks.
    """
    if batch_size < 1 or num_devices < 1:
        raise ValueError(f"batch_size is {batch_size}, num_devices {num_devices}; at least 1 each was expected")
    grids = {"num_devices": num_devices, "batch_size": batch_size}
    wanted = (cost_of, length, memory_bytes)
    # More micro-batches hardly wait less; so many are of use only where the rows of fewer do not fit.
    return _search(*wanted, **grids, most=_MANY) or _search(*wanted, **grids, most=_MOST)


def _search(
    cost_of: CostOf, length: int, memory_bytes: int | None, *, num_devices: int, batch_size: int, most: int
) -> list[Plan]:
    """The plans whose pipelines have at most so many micro-batches."""
    plans = []
    for num_rows in (number for number in range(1, batch_size + 1) if batch_size % number == 0):
        if batch_size // num_rows > most * num_devices:
            continue
        costs = cost_of(num_rows)
        num_layers = len(costs.layers)
        for pipeline, replicas in _grids(
            batch_size // num_rows, num_devices=num_devices, num_layers=num_layers, most=most
        ):
            cut = best_cut(Parts(costs, Wanted(pipeline, memory_bytes, "auto")))
            if cut is not None:
                plans.append(_plan(costs, cut, pipeline, StepRows(num_rows, length, replicas)))
    return sorted(plans, key=_order)


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


def _plan(costs: StackCosts, cut: Cut, pipeline: Pipeline, rows: StepRows) -> Plan:
    line = cut_timeline(costs, cut, pipeline)
    step_s = line.step_s + after_timeline_s(costs, cut, pipeline, replicas=rows.replicas)
    return Plan(
        stages=pipeline.num_stages,
        replicas=rows.replicas,
        micro_batches=pipeline.num_micro_batches,
        virtual_stages=pipeline.virtual_stages,
        schedule=pipeline.schedule,
        boundaries=cut.boundaries,
        recomputed=tuple(layer - 1 for layer in cut.recomputed),
        rows_per_micro_batch=rows.rows_per_micro_batch,
        length=rows.length,
        part_forward_s=cut.part_forward_s,
        part_backward_s=cut.part_backward_s,
        transfer_s=cut_transfers(costs, cut),
        step_s=step_s,
        bubble_share=line.bubble_share,
        stage_bytes=cut.stage_bytes,
        tokens_per_s=rows.num_tokens(pipeline.num_micro_batches) / step_s if step_s else 0.0,
    )


def _grids(num_micro_batches: int, *, num_devices: int, num_layers: int, most: int) -> Iterator[tuple[Pipeline, int]]:
    """Pipelines, and how many of them, that share so many micro-batches evenly."""
    for stages in range(1, min(num_devices, num_layers) + 1):
        for replicas in range(1, min(num_devices // stages, num_micro_batches) + 1):
            if num_micro_batches % replicas or num_micro_batches // replicas > most:
                continue
            for chunks in _CHUNKS:
                pipeline = Pipeline(stages, num_micro_batches // replicas, "1f1b", chunks)
                if chunks == 1 or (may_interleave(pipeline) and pipeline.num_parts <= num_layers):
                    yield pipeline, replicas


def _order(plan: Plan) -> tuple:
    return (plan.step_s, plan.num_devices, plan.stages, plan.virtual_stages, plan.micro_batches, plan.boundaries)


def _unlimited(costs: StackCosts, pipeline: Pipeline) -> Parts:
    return Parts(costs, without_limit(Wanted(pipeline, recompute="auto")))
