"""Where values lie in a drawing: scales, round ticks, and the axes as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ernie_pp.report.values import escape_text, show_number

WIDTH, HEIGHT = 460, 240  # of the view box
LEFT, RIGHT, TOP, BOTTOM = 64, 432, 14, 204  # of the plot inside it


@dataclass(frozen=True)
class Scale:
    """A straight map from values `low..high` to places `start..end`; values outside are held at the ends."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """The place of a value, rounded to a tenth of a unit."""
        share = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return round(self.start + share * (self.end - self.start), 1)


def x_scale(low: float, high: float) -> Scale:
    """Values from left to right, exactly as far as they reach."""
    low, high = _spread(low, high)
    return Scale(low, high, LEFT, RIGHT)


def y_scale(low: float, high: float) -> Scale:
    """Values from bottom to top with a little air; from zero where that does not flatten them."""
    if 0 <= low < 0.5 * high:
        return Scale(0.0, high * 1.05, BOTTOM, TOP)
    low, high = _spread(low, high)
    air = 0.05 * (high - low)
    return Scale(low - air, high + air, BOTTOM, TOP)


def round_ticks(low: float, high: float, *, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten inside `low..high`, `most` of them at the most."""
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    ticks = [round(index * step, 12 - math.floor(math.log10(step))) for index in range(first, last + 1)]
    return ticks[:most]


def draw_axes(x: Scale, y: Scale, *, x_name: str) -> str:
    """Grid lines, tick labels and the name of the horizontal axis."""
    parts = [f'<path class="axis" d="M{LEFT} {BOTTOM}H{RIGHT}"/>']
    for tick in round_ticks(y.low, y.high, most=5):
        place = y.place(tick)
        parts.append(f'<path class="grid" d="M{LEFT} {place}H{RIGHT}"/>')
        parts.append(_label(LEFT - 7, place + 4, show_number(tick), anchor="end"))
    for tick in round_ticks(x.low, x.high, most=6):
        place = x.place(tick)
        parts.append(f'<path class="axis" d="M{place} {BOTTOM}v4"/>')
        parts.append(_label(place, BOTTOM + 18, show_number(tick), anchor="middle"))
    parts.append(_label(RIGHT, HEIGHT - 3, x_name, anchor="end"))
    return "".join(parts)


def _label(x: float, y: float, text: str, *, anchor: str) -> str:
    return f'<text x="{x}" y="{y:.1f}" text-anchor="{anchor}">{escape_text(text)}</text>'


def _spread(low: float, high: float) -> tuple[float, float]:
    """The range itself, or a range around a single value."""
    if high - low > 1e-9 * max(abs(low), abs(high)):
        return low, high
    half = 0.5 * abs(high) if high else 0.5
    return low - half, high + half
