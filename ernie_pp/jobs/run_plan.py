"""The plan of a run that has its rows: where the layers are cut, what is computed again, what a step should take."""

from __future__ import annotations

from contextlib import nullcontext

from ernie_pp.config import RunConfig
from ernie_pp.jobs.joining import writer_first
from ernie_pp.jobs.plan_costs import ModelFacts
from ernie_pp.jobs.planning import plan_of
from ernie_pp.jobs.prepare import Prepared
from ernie_pp.models.ernie import model_values
from ernie_pp.parallel.topology import Layout
from ernie_pp.parallel.world import World
from ernie_pp.partition.plan_record import Plan


def plan_run(config: RunConfig, prepared: Prepared, world: World) -> Plan:
    """The plan for the run's grid, model and longest row; all ranks come to the same. ConfigError where none fits."""
    tokenizer, task = prepared.tokenizer, prepared.task
    values = model_values(config.model, vocab_size=tokenizer.vocab_size, pad_id=tokenizer.pad_id)
    length = int(prepared.splits["train"].rows.lengths.max())
    # Measuring wants the machine for itself, and once; the others then find the times in their file.
    with writer_first(world) if config.parallel.costs == "measured" else nullcontext():
        return plan_of(config, ModelFacts(values, len(task.label_names)), length=length, may_measure=world.is_writer)


def layout_of(plan: Plan) -> Layout:
    """The plan as far as it says which rank computes what; blocks come after the embeddings."""
    recomputed = frozenset(block + 1 for block in plan.recomputed)
    return Layout(plan.boundaries, recomputed, plan.virtual_stages, plan.schedule)
