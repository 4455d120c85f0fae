"""Plans as text for a terminal, as settings, and as the picture of a report."""

from __future__ import annotations

from collections.abc import Sequence

from ernie_pp.byte_sizes import format_bytes
from ernie_pp.config import ParallelConfig
from ernie_pp.config.yaml_reader import write_yaml
from ernie_pp.jobs.figures import say_count
from ernie_pp.partition.order import Pipeline
from ernie_pp.partition.plan_record import Plan
from ernie_pp.partition.simulate import Timeline, simulate
from ernie_pp.report import PlanPicture
from ernie_pp.report.timeline_text import LEGEND, timeline_lines

_COLUMNS = ("", "stages x replicas", "micro-batches", "schedule", "step", "tokens/s", "waiting", "recompute")
_CUT = "cut: the first layer of each part (embeddings 0, block i is i + 1, then the head), and the number of layers"
# Of many stages the first and the last few say enough.
_MOST_NAMED = 8


def plan_table(plans: Sequence[Plan]) -> str:
    """The plans, best first, one a line, and below each what its stages hold."""
    rows = [_COLUMNS, *(_cells(number, plan) for number, plan in enumerate(plans, start=1))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    told = [lines[0]]
    for line, plan in zip(lines[1:], plans, strict=True):
        told += [line, f"{' ' * widths[0]}  cut {_listed(plan.boundaries)}; memory {_memory(plan)}"]
    return "\n".join([*told, _CUT])


def plan_drawing(plan: Plan) -> str:
    """The step of a plan, one line a stage."""
    timeline = plan_timeline(plan)
    title = f"The best plan's step, {show_seconds(timeline.step_s)} from the first forward to the last backward pass"
    return "\n".join([title, *timeline_lines(timeline), LEGEND])


def plan_settings(plan: Plan) -> dict[str, object]:
    """The keys of `parallel` that give this plan, those of the default left out."""
    blocks: object = list(plan.recomputed) or "none"
    settings = {
        "stages": plan.stages,
        "replicas": plan.replicas,
        "schedule": plan.schedule,
        "virtual_stages": plan.virtual_stages,
        "micro_batches": plan.micro_batches,
        "boundaries": list(plan.boundaries[:-1]) if len(plan.boundaries) > 2 else None,
        "recompute": blocks,
    }
    fields = ParallelConfig.model_fields
    # The number of stages is always told: a section must say something, and replaces `parallel: auto`.
    return {name: value for name, value in settings.items() if name == "stages" or value != fields[name].default}


def plan_fragment(plan: Plan, *, note: str) -> str:
    """The section as YAML that a config can extend."""
    return f"# {note}\n{write_yaml({'parallel': plan_settings(plan)})}"


def plan_words(plan: Plan) -> str:
    """The same as words for the command line."""
    words = (f"parallel.{name}={_word(value)}" for name, value in plan_settings(plan).items())
    return " ".join(f"'{word}'" if "[" in word else word for word in words)


def plan_timeline(plan: Plan) -> Timeline:
    """What the plan expects of a step, without the update at its end."""
    pipeline = Pipeline(plan.stages, plan.micro_batches, plan.schedule, plan.virtual_stages)
    times = {"forward_s": plan.part_forward_s, "backward_s": plan.part_backward_s}
    return simulate(pipeline, **times, transfer_s=plan.transfer_s)


def plan_picture(
    plan: Plan,
    *,
    limit_bytes: int | None = None,
    measured: Timeline | None = None,
    measured_bytes: Sequence[int] | None = None,
) -> PlanPicture:
    """What report.html shows of a run's plan; `measured` and its bytes are there once a run has been watched."""
    facts = [
        ("grid", f"{show_grid(plan)}, {_schedule(plan)}"),
        ("micro-batches", f"{_micro_batches(plan)} x {plan.length} tokens, each step and replica"),
        ("predicted step", f"{show_seconds(plan.step_s)}, {plan.tokens_per_s:,.0f} tokens/s"),
        ("first layers of the parts", _listed(plan.boundaries[:-1])),
        ("blocks computed again", _recomputed(plan)),
    ]
    return PlanPicture(plan_timeline(plan), plan.stage_bytes, facts, limit_bytes, measured, measured_bytes)


def show_grid(plan: Plan) -> str:
    """1 stage x 4 replicas."""
    return f"{say_count(plan.stages, 'stage')} x {say_count(plan.replicas, 'replica')}"


def show_seconds(seconds: float) -> str:
    """Three digits, in the unit that suits."""
    return (
        f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s" if seconds < 999.5 else f"{seconds:.0f} s"
    )


def _cells(number: int, plan: Plan) -> tuple[str, ...]:
    return (
        str(number),
        f"{plan.stages} x {plan.replicas}",
        _micro_batches(plan),
        _schedule(plan),
        show_seconds(plan.step_s),
        f"{plan.tokens_per_s:,.0f}",
        f"{100 * plan.bubble_share:.1f} %",
        _recomputed(plan),
    )


def _micro_batches(plan: Plan) -> str:
    return f"{plan.micro_batches} x {plan.rows_per_micro_batch} rows"


def _schedule(plan: Plan) -> str:
    return plan.schedule if plan.virtual_stages == 1 else f"{plan.schedule}, {plan.virtual_stages} chunks"


def _recomputed(plan: Plan) -> str:
    blocks = plan.recomputed
    if not blocks:
        return "none"
    share = "all " if len(blocks) == plan.boundaries[-1] - 2 else ""
    return f"{share}{say_count(len(blocks), 'block')}"


def _memory(plan: Plan) -> str:
    return _listed([format_bytes(size) for size in plan.stage_bytes], separator=", ")


def _listed(values: Sequence[object], *, separator: str = " ") -> str:
    words = [str(value) for value in values]
    if len(words) > _MOST_NAMED + 1:  # never dots for a single one
        half = _MOST_NAMED // 2
        words = [*words[:half], "...", *words[-half:]]
    return separator.join(words)


def _word(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)
