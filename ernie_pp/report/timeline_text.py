"""The timeline of a step as text for a terminal, one line a stage."""

from __future__ import annotations

from collections.abc import Sequence

from ernie_pp.partition.simulate import Event, Timeline

WIDTH = 84  # columns of a line beside its name
IDLE, BACKWARD = ".", "▒░"
LEGEND = f"0-9 forward of a micro-batch (its last digit), {BACKWARD} backward (of even and odd ones), {IDLE} idle"


def timeline_lines(timeline: Timeline, *, width: int = WIDTH) -> list[str]:
    """A line for each stage, in which a column shows what the stage does in the middle of the column's time."""
    num_stages = len(timeline.in_flight)
    name_width = len(str(num_stages - 1))
    column_s = timeline.step_s / width
    lines = []
    for stage in range(num_stages):
        events = sorted((event for event in timeline.events if event.stage == stage), key=lambda event: event.start_s)
        lines.append(f"stage {stage:<{name_width}} {_line(events, column_s=column_s, width=width)}")
    return lines


def _line(events: Sequence[Event], *, column_s: float, width: int) -> str:
    signs = [IDLE] * width
    for event in events:
        for column in range(_first_column(event.start_s, column_s), min(width, _first_column(event.end_s, column_s))):
            signs[column] = _sign(event)
    return "".join(signs)


def _first_column(time_s: float, column_s: float) -> int:
    """The first column whose middle is not before a time."""
    return -int(-(time_s / column_s - 0.5) // 1) if column_s > 0 else 0


def _sign(event: Event) -> str:
    number = event.micro_batch
    return str(number % 10) if event.kind == "forward" else BACKWARD[number % 2]
