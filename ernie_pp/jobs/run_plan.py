"""The plan of a run that has its rows: where the layers are cut, what is computed again, what a step should take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from ernie_pp.config import RunConfig
from ernie_pp.jobs.joining import writer_first
from ernie_pp.jobs.plan_costs import ModelFacts
from ernie_pp.jobs.plan_text import plan_picture
from ernie_pp.jobs.planning import plan_of
from ernie_pp.jobs.prepare import Prepared
from ernie_pp.models.ernie import model_values
from ernie_pp.parallel.measured import MeasuredStep
from ernie_pp.parallel.topology import Grid, Layout
from ernie_pp.parallel.world import World
from ernie_pp.partition.plan_record import Plan
from ernie_pp.report import PlanPicture


def plan_run(config: RunConfig, prepared: Prepared, world: World) -> Plan:
    """The plan for the run's grid, model and longest row; all ranks come to the same. ConfigError where none fits."""
    tokenizer, task = prepared.tokenizer, prepared.task
    values = model_values(config.model, vocab_size=tokenizer.vocab_size, pad_id=tokenizer.pad_id)
    length = int(prepared.splits["train"].rows.lengths.max())
    # Measuring wants the machine for itself, and once; the others then find the times in their file.
    with writer_first(world) if config.parallel.costs == "measured" else nullcontext():
        return plan_of(config, ModelFacts(values, task.head_spec), length=length, may_measure=world.is_writer)


def layout_of(plan: Plan) -> Layout:
    """The plan as far as it says which rank computes what; blocks come after the embeddings."""
    recomputed = frozenset(block + 1 for block in plan.recomputed)
    return Layout(plan.boundaries, recomputed, plan.virtual_stages, plan.schedule)


def picture_plan(
    plan: Plan, history: Sequence[Mapping], measured: MeasuredStep | None, grid: Grid
) -> PlanPicture | None:
    """The plan beside what was measured, for the report; None for one process, of which there is nothing to see."""
    if plan.num_devices == 1:
        return None
    # A run that goes on may have stood on another grid before.
    lines = [line["ranks"] for line in history if line["kind"] == "train" and len(line["ranks"]) == grid.num_ranks]
    peaks = [rank["peak_memory_bytes"] for rank in lines[-1]] if lines else []
    of_stages = (
        [max(peaks[rank] for rank in grid.ranks_of_stage(stage)) for stage in range(grid.stages)] if peaks else None
    )
    timeline = None if measured is None else measured.timeline()
    return plan_picture(plan, measured=timeline, measured_bytes=of_stages)
