"""Which grid a run gets, and what it is expected to take."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ernie_pp.byte_sizes import format_bytes, parse_bytes
from ernie_pp.config import ParallelConfig, RunConfig
from ernie_pp.data.batches import StepCut, cut_step
from ernie_pp.jobs.device_kinds import CPU, GPUS, USUAL_GPU, gpu_named
from ernie_pp.jobs.plan_costs import Costing, Devices, ModelFacts
from ernie_pp.jobs.plan_text import plan_settings, show_grid, show_seconds
from ernie_pp.jobs.profile_costs import default_cache
from ernie_pp.jobs.splits import build_tokenizer
from ernie_pp.machine import count_cores, memory_bytes
from ernie_pp.models.ernie import find_vocabulary, model_values
from ernie_pp.partition.costs import StackCosts
from ernie_pp.partition.order import Pipeline
from ernie_pp.partition.parts import Wanted
from ernie_pp.partition.plan import StepRows, make_plan, nowhere_fits, search, why_one_device
from ernie_pp.partition.plan_record import Plan
from ernie_pp.tasks import load_task

LOG = logging.getLogger("ernie_pp")
# Labels of a task are known once its rows are read; a head's few outputs weigh nothing.
_SUPPOSED_LABELS = ("one", "another")


def plan_here(config: RunConfig, *, num_devices: int | None) -> tuple[ParallelConfig, str]:
    """The fastest grid on the devices of this machine, or on just `num_devices` of them; and why."""
    devices = find_devices(config)
    if num_devices is not None:
        devices = replace(devices, count=num_devices)
    costing = costing_of(config, model_facts(config), devices)
    plans = best_plans(costing, must_use_all=num_devices is not None)
    grid = ParallelConfig.model_validate({**plan_settings(plans[0]), "costs": config.parallel.costs})
    return grid, f"{devices.count} x {devices.kind.name}, {_why(costing, plans)}"


def plan_of(
    config: RunConfig,
    model: ModelFacts,
    *,
    length: int | None = None,
    may_measure: bool = True,
) -> Plan:
    """The plan of a run whose grid is given: its cut, as the settings say or the best there is, and what to expect.

    `length` is that of the longest rows as cut (none: text.max_length). Of many ranks one measures layer costs, where
    they are to be measured; the others call this after it with `may_measure=False`. ConfigError where it does not fit.
    """
    grid, devices = config.parallel, find_devices(config)
    processes = grid.stages * grid.replicas
    costing = replace(costing_of(config, model, devices, length=length), may_measure=may_measure)
    rows, micro_batches = micro_batches_of(config, length=costing.length)
    num_layers = model.values["num_hidden_layers"] + 2
    pipeline = Pipeline(grid.stages, micro_batches, grid.schedule, grid.virtual_stages)
    return make_plan(
        _for_replicas(costing.of(rows, processes=processes), grid),
        Wanted(pipeline, _limit(grid, devices, processes), grid.recompute),
        StepRows(rows, costing.length, grid.replicas, config.train.batch_size),
        boundaries=_with_end(grid.boundaries, grid=grid, num_layers=num_layers),
    )


def waiting_note(plan: Plan) -> str | None:
    """What to tell of a pipeline whose stages mostly wait because of too few micro-batches; None where they do not."""
    if plan.stages == 1 or plan.micro_batches >= 2 * plan.stages:
        return None
    have = "1 micro-batch" if plan.micro_batches == 1 else f"{plan.micro_batches} micro-batches"
    return (
        f"{plan.stages} stages and {have} a step: the stages wait {100 * plan.bubble_share:.0f} % of it; "
        f"set parallel.micro_batches to {4 * plan.stages} or so, with a train.batch_size that has as many rows"
    )


def best_plans(costing: Costing, *, must_use_all: bool = False) -> list[Plan]:
    """The plans that fit, fastest first; ConfigError where none does.

    Processes on a CPU share its cores and memory, so each number of them is searched by itself.
    """
    devices, batch_size = costing.devices, costing.config.train.batch_size
    is_exact = devices.is_cpu or must_use_all
    counts = _process_counts(devices.count) if devices.is_cpu and not must_use_all else [devices.count]
    plans = []
    for count in counts:
        found = search(
            cost_of(costing, count),
            num_devices=count,
            batch_size=batch_size,
            length=costing.length,
            memory_bytes=devices.memory_of_one(count),
        )
        plans += [plan for plan in found if not is_exact or plan.num_devices == count]
    if not plans:
        limit = devices.memory_of_one(devices.count)
        raise nowhere_fits(cost_of(costing, devices.count), num_devices=devices.count, memory_bytes=limit)
    return sorted(plans, key=lambda plan: (plan.step_s, plan.num_devices))


def one_device(costing: Costing, plans: Sequence[Plan]) -> str:
    """Whether one device would do, in a sentence."""
    return why_one_device(plans, cost_of=cost_of(costing, 1), memory_bytes=costing.devices.memory_of_one(1))


def cost_of(costing: Costing, processes: int) -> Callable[[int], StackCosts]:
    """Costs of a micro-batch by its rows."""
    return partial(costing.between, processes=processes, most_rows=costing.config.train.batch_size)


def micro_batches_of(config: RunConfig, *, length: int) -> tuple[int, int]:
    """(most rows of a micro-batch, micro-batches of a step and replica) as a run cuts rows of one length."""
    grid, count = config.parallel, config.train.batch_size
    cut = StepCut(config.train.micro_batch_tokens, grid.stages, grid.replicas, grid.micro_batches)
    parts = cut_step(np.full(count, length), np.arange(count), cut)
    return max(map(len, parts)), -(-len(parts) // grid.replicas)


def model_facts(config: RunConfig) -> ModelFacts:
    """Sizes of the config's model; no weights are loaded. Only the config of a name Paddle does not know is fetched."""
    model = config.model
    head = load_task(config.task).head_for(config, num_labels=len(config.labels or _SUPPOSED_LABELS))
    if model.name is not None:
        return ModelFacts(model_values(model, vocab_size=1, pad_id=0), head)
    tokenizer = build_tokenizer(find_vocabulary(model), config.text)
    return ModelFacts(model_values(model, vocab_size=tokenizer.vocab_size, pad_id=tokenizer.pad_id), head)


def find_devices(config: RunConfig) -> Devices:
    """The devices of this machine that the config may use: GPUs, else the CPU's cores, with their memory."""
    given = parse_bytes(config.parallel.memory) if config.parallel.memory is not None else None
    if config.device != "cpu":
        gpus = _find_gpus(given)
        if gpus is not None:
            return gpus
    return Devices(CPU, count_cores(), given or memory_bytes(), is_shared=given is None)


def costing_of(config: RunConfig, model: ModelFacts, devices: Devices, *, length: int | None = None) -> Costing:
    """The costs that the config asks for."""
    cache = default_cache() if config.parallel.costs == "measured" else None
    return Costing(config, model, devices, length or config.text.max_length, cache)


def _find_gpus(given_bytes: int | None) -> Devices | None:
    import paddle

    if not paddle.device.is_compiled_with_cuda() or not paddle.device.cuda.device_count():
        return None
    name = paddle.device.cuda.get_device_name(0)
    kind = gpu_named(name)
    if kind is None:
        LOG.warning("%s is not known: planned with the figures of a %s (better: costs: measured)", name, USUAL_GPU)
        kind = GPUS[USUAL_GPU]
    total = int(paddle.device.cuda.get_device_properties(0).total_memory)
    return Devices(kind, paddle.device.cuda.device_count(), given_bytes or total)


def _process_counts(most: int) -> list[int]:
    """Numbers of processes worth a look: all up to eight, then powers of two, and the most."""
    return sorted({count for count in range(1, most + 1) if count <= 8 or count & (count - 1) == 0} | {most})


def _for_replicas(costs: StackCosts, grid: ParallelConfig) -> StackCosts:
    """The costs with the replicas' shares of the optimizer state, and gradients of half the size where they are."""
    device = costs.device
    if grid.shard_optimizer:
        # Weights and gradients stay whole; each replica keeps and updates its share of the two moments.
        factor = device.state_factor / 2 * (1 + 1 / grid.replicas)
        update = device.update_s_per_byte / grid.replicas
        device = replace(device, state_factor=factor, update_s_per_byte=update)
    if grid.gradient_type != "fp32":
        device = replace(device, reduce_bytes_per_s=2 * device.reduce_bytes_per_s)
    return replace(costs, device=device)


def _with_end(boundaries: Sequence[int] | None, *, grid: ParallelConfig, num_layers: int) -> tuple[int, ...] | None:
    """The boundaries with the number of layers at their end, which the settings may leave out."""
    if boundaries is None or len(boundaries) > grid.stages * grid.virtual_stages:
        return None if boundaries is None else tuple(boundaries)
    return (*boundaries, num_layers)


def _limit(grid: ParallelConfig, devices: Devices, processes: int) -> int | None:
    """Bytes of one process; no limit where nothing is left to choose by it."""
    if grid.recompute != "auto" and grid.memory is None:
        return None
    return devices.memory_of_one(processes)


def _why(costing: Costing, plans: Sequence[Plan]) -> str:
    best = plans[0]
    words = f"{show_grid(best)}, {show_seconds(best.step_s)} a step, "
    return f"{words}{format_bytes(max(best.stage_bytes))} at most. {one_device(costing, plans)}"
