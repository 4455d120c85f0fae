"""Curves and histograms: right places, inside the drawing, whatever the values are."""

import math
import re

import pytest

from ernie_pp.report import Curve, Histogram
from ernie_pp.report.axes import HEIGHT, WIDTH, round_ticks
from ernie_pp.report.charts import draw_curve, draw_histogram
from ernie_pp.report.thinning import smooth, thin

NAN, INF = math.nan, math.inf
CURVES = {
    "falling": [(1, 0.7), (2, 0.5), (3, 0.1)],
    "one point": [(5, 0.5)],
    "constant": [(1, 3.0), (2, 3.0)],
    "zero": [(0, 0.0), (1, 0.0)],
    "negative": [(1, -5.0), (2, 2.0)],
    "tiny": [(1, 5e-320), (2, 1e-310)],
    "huge": [(1, -1e149), (2, 1e149)],
    "too huge": [(1, 1e308), (2, 1.0)],
    "near equal": [(1, 1.0), (2, 1.0 + 1e-15)],
    "holes": [(1, NAN), (2, 0.5), (3, INF), (4, -INF), (5, 0.4)],
    "many": [(step, math.sin(step)) for step in range(20_000)],
    "unordered": [(3, 1.0), (1, 2.0)],
}


def _figure(parse, html):
    return parse(html).one("figure")


def _places(figure):
    """All coordinates drawn: of labels, dots, bars and paths."""
    for element in figure.one("svg").all():
        named = {name: float(element.attributes[name]) for name in ("x", "y", "cx", "cy") if name in element.attributes}
        x, y = named.get("x", named.get("cx", 0.0)), named.get("y", named.get("cy", 0.0))
        yield x, y
        yield x + float(element.attributes.get("width", 0)), y + float(element.attributes.get("height", 0))
        if element.attributes.get("class") not in ("axis", "grid", "limit"):
            numbers = [float(number) for number in re.findall(r"[^ MLHV]+", element.attributes.get("d", ""))]
            yield from zip(numbers[::2], numbers[1::2], strict=True)


@pytest.mark.parametrize("points", CURVES.values(), ids=CURVES)
def test_curve_stays_inside_the_view_box(parse, points):
    figure = _figure(parse, draw_curve(Curve("c", {"line": points})))
    assert figure.one("svg").attributes["viewbox"] == f"0 0 {WIDTH} {HEIGHT}"
    places = list(_places(figure))
    assert len(places) > 4
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)


def test_lower_values_stand_lower(parse):
    figure = _figure(parse, draw_curve(Curve("c", {"line": CURVES["falling"]})))
    dots = [(float(dot.attributes["cx"]), float(dot.attributes["cy"])) for dot in figure.all("circle")]
    assert dots == sorted(dots, key=lambda dot: dot[0]) == sorted(dots, key=lambda dot: dot[1])
    assert "step 3: 0.1" in figure.text


def test_last_value_of_each_line_is_named(parse):
    curve = Curve("c", {"训练": [(1, 0.5), (2, 0.25)], "dev": [(2, 12345.6)], "none": []})
    entries = [entry.text.strip() for entry in _figure(parse, draw_curve(curve)).one("ul").all("li")]
    assert entries == ["训练 0.25", "dev 12,346", "none none"]


def test_values_that_are_not_finite_are_counted(parse):
    figure = _figure(parse, draw_curve(Curve("c", {"loss": CURVES["holes"]})))
    assert "3 not finite, the first at step 1" in figure.text
    assert len(list(figure.all("circle"))) == 2
    assert "nan" not in " ".join(element.attributes.get("d", "") for element in figure.all("path"))


@pytest.mark.parametrize("lines", [{}, {"loss": []}, {"loss": [(1, NAN), (2, INF)]}])
def test_curve_without_a_value_says_so(parse, lines):
    figure = _figure(parse, draw_curve(Curve("c", lines)))
    assert "no values" in figure.text
    assert not list(figure.all("svg"))


def test_long_curve_is_thinned_with_its_extremes():
    points = [(step, 0.0) for step in range(50_000)]
    points[31_234] = (31_234, 9.0)
    points[777] = (777, -4.0)
    thinned = thin(points)
    assert len(thinned) < 1_000
    assert {points[31_234], points[777], points[0], points[-1]} <= set(thinned)
    assert list(thinned) == sorted(thinned)


def test_noisy_line_gets_its_mean_and_calm_line_none():
    noisy = [(step, 1.0 + (-1) ** step) for step in range(200)]
    assert all(0.7 < value < 1.3 for _, value in smooth(noisy))
    assert len(smooth(noisy)) == 200
    assert not smooth([(step, 1 / (1 + step)) for step in range(200)])


@pytest.mark.parametrize("low,high", [(0, 1), (0.61, 0.89), (-3, 7e5), (1e-7, 3e-7), (99_999, 100_001), (0, 1e140)])
def test_ticks_are_round_few_and_inside(low, high):
    ticks = round_ticks(low, high, most=5)
    assert 2 <= len(ticks) <= 5
    assert all(low <= tick <= high for tick in ticks)
    assert {f"{ticks[1] - ticks[0]:.0e}"[0]} <= {"1", "2", "5"}


def test_histogram_has_a_bar_for_each_filled_bin_and_the_limit(parse):
    figure = _figure(parse, draw_histogram(Histogram("h", [0, 50, 100, 150], [5, 0, 90], "tokens", 120.0)))
    bars = list(figure.all("rect", class_="bar"))
    heights = [float(bar.attributes["height"]) for bar in bars]
    assert [bar.text for bar in bars] == ["0 to 50 tokens: 5", "100 to 150 tokens: 90"]
    assert heights[1] == pytest.approx(18 * heights[0], rel=0.02)
    (place,) = re.findall(r"^M([\d.]+) ", figure.one("path", class_="limit").attributes["d"])
    left = float(bars[1].attributes["x"])
    assert left < float(place) < left + float(bars[1].attributes["width"])
    assert "limit 120" in figure.text


def test_limit_beyond_all_bins_widens_the_axis(parse):
    figure = _figure(parse, draw_histogram(Histogram("h", [0, 10, 20], [3, 4], "tokens", 512.0)))
    assert all(0 <= x <= WIDTH for x, _ in _places(figure))
    assert max(float(bar.attributes["x"]) for bar in figure.all("rect")) < WIDTH / 4


@pytest.mark.parametrize("counts", [[], [0, 0]])
def test_empty_histogram_says_so(parse, counts):
    figure = _figure(parse, draw_histogram(Histogram("h", [0, 1, 2][: len(counts) + 1], counts, "tokens")))
    assert "no values" in figure.text
