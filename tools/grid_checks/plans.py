"""What `ernie-pp plan` expects of a step, beside the step itself."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace

from ernie_pp.config import RunConfig
from ernie_pp.config.schema import CpuConfig, ModelConfig, ParallelConfig, SizesConfig, TrainConfig
from ernie_pp.jobs.plan_costs import ModelFacts
from ernie_pp.jobs.planning import plan_of
from ernie_pp.models.ernie import model_values
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.partition.plan_record import Plan
from tools.grid_checks.job import Job, Result, run
from tools.grid_checks.table import Line

TIME_SHARE, MEMORY_SHARE = 0.10, 0.15
_BASE = Job(num_layers=4, width=384, rows=2, length=256, micro_batches=8, num_steps=6)
_ALL = (1, 2, 3, 4)
_WIDE = replace(_BASE, num_layers=6, width=256, rows=4, length=128, micro_batches=16)
_LONG = replace(_BASE, num_layers=4, width=256, rows=1, length=1024, micro_batches=8)
JOBS = {
    "1x1, 4 blocks, 384 wide, 2 x 256 tokens": _BASE,
    "2x1, the same": replace(_BASE, stages=2),
    "1x2, the same": replace(_BASE, replicas=2),
    "1x1, the same, recomputed": replace(_BASE, recomputed=_ALL),
    "2x1, the same, recomputed": replace(_BASE, stages=2, recomputed=_ALL),
    "1x1, 6 blocks, 256 wide, 4 x 128 tokens": _WIDE,
    "2x1, the same shape": replace(_WIDE, stages=2),
    "1x2, the same shape": replace(_WIDE, replicas=2),
    "1x1, 4 blocks, 256 wide, 1 x 1,024 tokens": _LONG,
    "2x1, the same length": replace(_LONG, stages=2),
}


def check() -> Iterator[Line]:
    """Time within a tenth, memory within 15 %: the larger of both, relative to what was measured."""
    for name, job in JOBS.items():
        plan = plan_for(job)
        found = run(replace(job, boundaries=plan.boundaries if job.stages > 1 else None), threads=1)
        off = plan.step_s / found.median_s - 1
        yield Line(f"{name}: step {plan.step_s:.3f} s, took {found.median_s:.3f}", abs(off), TIME_SHARE)
        yield _check_memory(name, replace(job, keeps_heap=False, num_steps=3))


def _check_memory(name: str, job: Job) -> Line:
    """In processes that give freed memory back at once: a kept heap has holes, and a plan can only guess how many."""
    plan = plan_for(job)
    found = run(replace(job, boundaries=plan.boundaries if job.stages > 1 else None), threads=1)
    grown = " and ".join(f"{count >> 20}" for count in found.growth_bytes)
    return Line(f"{name}: memory, each rank grew by {grown} MiB", _memory_off(plan, found, job), MEMORY_SHARE)


def plan_for(job: Job) -> Plan:
    """The plan from layer costs measured just now."""
    config = _config(job)
    facts = ModelFacts(
        model_values(config.model, vocab_size=job.vocab_size, pad_id=0), HeadSpec("classification", job.num_labels)
    )
    known = os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory(prefix="check_grid-") as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # not what was measured in another hour
        try:
            return plan_of(config, facts, length=job.length)
        finally:
            os.environ.pop("XDG_CACHE_HOME")
            if known is not None:
                os.environ["XDG_CACHE_HOME"] = known


def _config(job: Job) -> RunConfig:
    heads = max(1, job.width // 64)
    sizes = SizesConfig(
        vocab="none", num_layers=job.num_layers, hidden_size=job.width, num_heads=heads, max_positions=2048
    )
    parallel = ParallelConfig(
        stages=job.stages,
        replicas=job.replicas,
        micro_batches=job.micro_batches // job.replicas,
        costs="measured",
        recompute=tuple(layer - 1 for layer in job.recomputed) or "none",
    )
    return RunConfig(
        task="cls",
        output_dir="none",
        model=ModelConfig(sizes=sizes, dropout=job.dropout),
        train=TrainConfig(batch_size=job.rows * job.micro_batches, micro_batch_tokens=job.rows * job.length),
        parallel=parallel,
        cpu=CpuConfig(threads=1, keep_heap=job.keeps_heap),
    )


def _memory_off(plan: Plan, found: Result, job: Job) -> float:
    """How far the plan's stages are from the ranks' peaks, at most, relative to what each grew by."""
    planned = [plan.stage_bytes[rank % job.stages] for rank in range(job.stages * job.replicas)]
    peaks = zip(planned, found.loaded_bytes, found.growth_bytes, strict=True)
    return max(abs(stage - loaded - grown) / grown for stage, loaded, grown in peaks)
