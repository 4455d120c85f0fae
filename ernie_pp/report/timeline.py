"""The timeline of a step and the memory of its stages as SVG, one row a stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ernie_pp.byte_sizes import format_bytes
from ernie_pp.partition.simulate import Event, Timeline
from ernie_pp.report.axes import Scale, round_ticks
from ernie_pp.report.content import PlanPicture
from ernie_pp.report.values import escape_text, list_facts, show_number, show_percent

WIDTH, LEFT, RIGHT = 920, 70, 836  # of the view box, and of the rows in it
ROW, GAP, FOOT = 24, 6, 34
MEMORY_WIDTH, MEMORY_RIGHT = 460, 440
# A number is written into work that has room for it.
_DIGIT, _MARGIN = 7, 3
_MOST_NUMBERS = 1500
_SHORTER = (
    '<p class="note">Every row of the simulated step is as long as the longest; '
    "the measured step had the rows that came, most of them shorter.</p>"
)


def draw_plan(plan: PlanPicture) -> str:
    """Facts, the simulated step with the measured one below it on the same scale, and the memory."""
    steps = [("Simulated step", plan.timeline), *([("Measured step", plan.measured)] if plan.measured else [])]
    until_s = max(timeline.step_s for _, timeline in steps)
    figures = [draw_timeline(timeline, title=title, until_s=until_s) for title, timeline in steps]
    if plan.measured:
        figures.append(_SHORTER)
    figures.append(draw_memory(plan.stage_bytes, limit_bytes=plan.limit_bytes, measured=plan.measured_bytes))
    return f'{list_facts(plan.facts)}<div class="rows">{"".join(figures)}</div>'


def draw_timeline(timeline: Timeline, *, title: str, until_s: float | None = None) -> str:
    """Forward and backward work of every stage over time; `until_s` (the step's own end) is where the axis ends."""
    num_stages = len(timeline.in_flight)
    time = Scale(0.0, max(until_s or 0.0, timeline.step_s, 1e-9), LEFT, RIGHT)
    rows = "".join(_row(timeline, stage, time) for stage in range(num_stages))
    axis = _axis(time, top=num_stages * (ROW + GAP))
    caption = f"{title}: {_seconds(timeline.step_s)}; the stages wait {show_percent(timeline.bubble_share)} of it"
    legend = "".join(f'<li><span class="swatch {kind}"></span>{kind}</li>' for kind in ("forward", "backward"))
    legend += "<li>numbers: micro-batches</li>"
    if any(event.chunk for event in timeline.events):
        legend += "<li>paler: every other chunk of layers</li>"
    svg = _svg(caption, rows + axis, width=WIDTH, height=num_stages * (ROW + GAP) + FOOT)
    return _figure(caption, f'<div class="across" tabindex="0">{svg}</div>', legend=legend, kind=' class="wide"')


def draw_memory(stage_bytes: Sequence[int], *, limit_bytes: int | None, measured: Sequence[int] | None = None) -> str:
    """A bar for each stage's planned peak, a thin one for the measured, and the limit as a dashed line."""
    highest = max([*stage_bytes, *(measured or ()), 1])
    # A limit far away would squeeze the bars; it is named all the same.
    shows_limit = limit_bytes is not None and limit_bytes <= 4 * highest
    size = Scale(0.0, 1.02 * max(highest, limit_bytes or 0) if shows_limit else highest, LEFT, MEMORY_RIGHT)
    height = len(stage_bytes) * (ROW + GAP)
    rows = "".join(
        _memory_row(stage, count, size, measured=measured[stage] if measured else None)
        for stage, count in enumerate(stage_bytes)
    )
    legend = '<li><span class="swatch forward"></span>planned</li>'
    if measured:
        legend += '<li><span class="swatch measured"></span>measured</li>'
    if limit_bytes is not None:
        legend += f'<li><span class="dash"></span>limit <b>{format_bytes(limit_bytes)}</b></li>'
    if shows_limit:
        rows += f'<path class="limit" d="M{size.place(limit_bytes or 0)} 0V{height}"/>'
    caption = "Memory of each stage"
    return _figure(caption, _svg(caption, rows, width=MEMORY_WIDTH, height=height), legend=legend)


def _row(timeline: Timeline, stage: int, time: Scale) -> str:
    events = [event for event in timeline.events if event.stage == stage]
    top = stage * (ROW + GAP)
    groups: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for event in events:
        groups[event.kind, event.chunk].append(event)
    parts = [_label(LEFT - 8, top, f"stage {stage}", anchor="end")]
    parts.append(f'<rect class="idle" x="{LEFT}" y="{top}" width="{time.place(timeline.step_s) - LEFT:.1f}"')
    parts.append(f' height="{ROW}"/>')
    parts += [_work(group, time, top=top, stage=stage) for group in groups.values()]
    if len(timeline.events) <= _MOST_NUMBERS:
        parts.append(_numbers(events, time, top=top))
    busy_s = sum(event.end_s - event.start_s for event in events)
    idle = 1 - busy_s / timeline.step_s if timeline.step_s else 0.0
    parts.append(_label(RIGHT + 8, top, f"{show_percent(max(idle, 0.0))} idle", anchor="start"))
    return "".join(parts)


def _work(events: Sequence[Event], time: Scale, *, top: int, stage: int) -> str:
    """All work of one kind and chunk as one path: thousands of elements would make a heavy page."""
    first = events[0]
    path = "".join(_box(event, time, top=top) for event in events)
    total_s = sum(event.end_s - event.start_s for event in events)
    chunk = f", chunk {first.chunk}" if first.chunk else ""
    title = f"stage {stage}{chunk}: {first.kind} {_seconds(total_s)} in {len(events)} micro-batches"
    tone = " other" if first.chunk % 2 else ""
    return f'<path class="{first.kind}{tone}" d="{path}"><title>{escape_text(title)}</title></path>'


def _box(event: Event, time: Scale, *, top: int) -> str:
    left, right = time.place(event.start_s), time.place(event.end_s)
    # Neighbours must be told apart, and the shortest work must be seen.
    width = max(right - left - 0.8, 0.3)
    return f"M{left} {top}h{width:.1f}v{ROW}h-{width:.1f}z"


def _numbers(events: Iterable[Event], time: Scale, *, top: int) -> str:
    parts = []
    for event in events:
        left, right = time.place(event.start_s), time.place(event.end_s)
        if right - left >= _DIGIT * len(str(event.micro_batch)) + _MARGIN:
            place = f'x="{(left + right) / 2:.1f}" y="{top + 16}"'
            parts.append(f'<text class="on-work" {place} text-anchor="middle">{event.micro_batch}</text>')
    return "".join(parts)


def _memory_row(stage: int, count: int, size: Scale, *, measured: int | None) -> str:
    top, end = stage * (ROW + GAP), size.place(count)
    height = ROW if measured is None else ROW - 9
    parts = [_label(LEFT - 8, top, f"stage {stage}", anchor="end")]
    parts.append(f'<rect class="forward" x="{LEFT}" y="{top}" width="{end - LEFT:.1f}" height="{height}"/>')
    words = format_bytes(count)
    if measured is not None:
        width = size.place(measured) - LEFT
        parts.append(f'<rect class="measured" x="{LEFT}" y="{top + height + 1}" width="{width:.1f}" height="8"/>')
        words += f", measured {format_bytes(measured)}"
    has_room = end - LEFT >= _DIGIT * len(words) + 2 * 8
    kind, x = ("on-bar", LEFT + 8) if has_room else ("by-bar", end + 6)
    parts.append(f'<text class="{kind}" x="{x:.1f}" y="{top + (16 if measured is None else 12)}">{words}</text>')
    return "".join(parts)


def _axis(time: Scale, *, top: int) -> str:
    parts = [f'<path class="axis" d="M{LEFT} {top}H{RIGHT}"/>']
    unit, factor = ("ms", 1e3) if time.high < 1 else ("s", 1.0)
    for tick in round_ticks(time.low, time.high * factor, most=8):
        place = time.place(tick / factor)
        parts.append(f'<path class="axis" d="M{place} {top}v4"/>')
        parts.append(f'<text x="{place}" y="{top + 18}" text-anchor="middle">{show_number(tick)}</text>')
    parts.append(f'<text x="{WIDTH - 4}" y="{top + 18}" text-anchor="end">{unit}</text>')
    return "".join(parts)


def _label(x: int, top: int, text: str, *, anchor: str) -> str:
    return f'<text x="{x}" y="{top + 16}" text-anchor="{anchor}">{escape_text(text)}</text>'


def _seconds(value: float) -> str:
    return f"{show_number(value * 1e3)} ms" if value < 1 else f"{show_number(value)} s"


def _svg(name: str, drawing: str, *, width: int, height: int) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape_text(name)}">{drawing}</svg>'


def _figure(caption: str, drawing: str, *, legend: str, kind: str = "") -> str:
    name = f"<figcaption>{escape_text(caption)}</figcaption>"
    return f'<figure{kind}>{name}{drawing}<ul class="legend">{legend}</ul></figure>'
