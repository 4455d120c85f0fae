"""Curves and histograms as figures: SVG with its caption."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ernie_pp.report.axes import BOTTOM, HEIGHT, TOP, WIDTH, Scale, draw_axes, x_scale, y_scale
from ernie_pp.report.content import Curve, Histogram
from ernie_pp.report.thinning import smooth, thin
from ernie_pp.report.values import escape_text, show_number

Points = Sequence[tuple[float, float]]
NUM_COLOURS = 6
# Beyond this a difference of two values would not be a number any more.
_LARGEST = 1e150
# Each point gets its own dot, with its value on hovering, up to so many.
_MOST_DOTS = 60


def draw_curve(curve: Curve) -> str:
    """All lines over one pair of axes, named below with their last values; NaN and infinities are left out, said so."""
    lines = [(name, [point for point in points if _is_drawable(point)]) for name, points in curve.lines.items()]
    drawn = [point for _, points in lines for point in points]
    legend = "".join(_legend(index, name, curve.lines[name]) for index, (name, _) in enumerate(lines))
    if not drawn:
        return _figure(curve.title, '<p class="nothing">no values</p>', legend)
    x = x_scale(min(step for step, _ in drawn), max(step for step, _ in drawn))
    y = y_scale(min(value for _, value in drawn), max(value for _, value in drawn))
    parts = [draw_axes(x, y, x_name="step")]
    parts += [_line(points, x, y, colour=index % NUM_COLOURS) for index, (_, points) in enumerate(lines) if points]
    return _figure(curve.title, _svg(curve.title, parts), legend)


def draw_histogram(histogram: Histogram) -> str:
    """Bars from edge to edge, and the limit as a dashed line."""
    counts, edges = histogram.counts, histogram.edges
    if not any(counts):
        return _figure(histogram.title, '<p class="nothing">no values</p>')
    limit = histogram.limit
    reach = [*edges, *([] if limit is None else [limit])]
    x = x_scale(min(reach), max(reach))
    y = y_scale(0, max(counts))
    parts = [draw_axes(x, y, x_name=histogram.unit)]
    bins = zip(edges[:-1], edges[1:], counts, strict=True)
    parts += [_bar(low, high, count, x, y, unit=histogram.unit) for low, high, count in bins if count]
    legend = ""
    if limit is not None:
        parts.append(f'<path class="limit" d="M{x.place(limit)} {TOP}V{BOTTOM}"/>')
        legend = f'<li><span class="dash"></span>limit <b>{show_number(limit)}</b></li>'
    return _figure(histogram.title, _svg(histogram.title, parts), legend)


def _line(points: Points, x: Scale, y: Scale, *, colour: int) -> str:
    mean = smooth(points)
    faint = ' class="faint"' if mean else ""
    parts = [f'<path{faint} d="{_path(thin(points), x, y)}"/>']
    if mean:
        parts.append(f'<path d="{_path(thin(mean), x, y)}"/>')
    dotted = points if not mean and len(points) <= _MOST_DOTS else points[-1:]
    parts += [_dot(step, value, x, y) for step, value in dotted]
    return f'<g class="line colour-{colour}">{"".join(parts)}</g>'


def _path(points: Points, x: Scale, y: Scale) -> str:
    return "M" + "L".join(f"{x.place(step)} {y.place(value)}" for step, value in points)


def _dot(step: float, value: float, x: Scale, y: Scale) -> str:
    title = f"<title>step {show_number(step)}: {show_number(value)}</title>"
    return f'<circle cx="{x.place(step)}" cy="{y.place(value)}" r="2.5">{title}</circle>'


def _bar(low: float, high: float, count: int, x: Scale, y: Scale, *, unit: str) -> str:
    left, right, top = x.place(low), x.place(high), y.place(count)
    # A single row among thousands must still be seen.
    top = min(top, BOTTOM - 1)
    title = escape_text(f"{show_number(low)} to {show_number(high)} {unit}: {count:,}")
    size = f'x="{left}" y="{top}" width="{max(right - left - 1, 0.5):.1f}" height="{BOTTOM - top:.1f}"'
    return f'<rect class="bar" {size}><title>{title}</title></rect>'


def _legend(index: int, name: str, points: Points) -> str:
    last = show_number(points[-1][1]) if points else "none"
    not_finite = [step for step, value in points if not math.isfinite(value)]
    warning = ""
    if not_finite:
        warning = (
            f'<span class="bad">{len(not_finite)} not finite, the first at step {show_number(not_finite[0])}</span>'
        )
    swatch = f'<span class="swatch colour-{index % NUM_COLOURS}"></span>'
    return f"<li>{swatch}{escape_text(name)} <b>{last}</b> {warning}</li>"


def _is_drawable(point: tuple[float, float]) -> bool:
    return all(math.isfinite(number) and abs(number) < _LARGEST for number in point)


def _svg(title: str, parts: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape_text(title)}">{"".join(parts)}</svg>'


def _figure(title: str, drawing: str, legend: str = "") -> str:
    legend = f'<ul class="legend">{legend}</ul>' if legend else ""
    return f"<figure><figcaption>{escape_text(title)}</figcaption>{drawing}{legend}</figure>"
