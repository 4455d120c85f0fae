"""The timeline as text and as SVG: what is drawn is what was simulated."""

import re
from itertools import pairwise

import pytest

from ernie_pp.partition.order import Pipeline
from ernie_pp.partition.simulate import Event, Timeline, simulate
from ernie_pp.report import Content, PlanPicture
from ernie_pp.report.page import build_page
from ernie_pp.report.timeline import LEFT, MEMORY_RIGHT, RIGHT, WIDTH, draw_memory, draw_timeline
from ernie_pp.report.timeline_text import timeline_lines

GIB = 1 << 30


def _timeline(stages=2, micro_batches=4, *, chunks=1, forward_s=1.0):
    parts = stages * chunks
    pipeline = Pipeline(stages, micro_batches, virtual_stages=chunks)
    times = {"forward_s": [forward_s] * parts, "backward_s": [2 * forward_s] * parts}
    return simulate(pipeline, **times, transfer_s=[0.0] * (parts - 1))


def test_text_shows_who_works_when():
    # Two stages, three micro-batches: 12 seconds in 12 columns.
    assert timeline_lines(_timeline(micro_batches=3), width=12) == [
        "stage 0 01..▒▒2░░.▒▒",
        "stage 1 .0▒▒1░░2▒▒..",
    ]


@pytest.mark.parametrize("stages, micro_batches, chunks", [(1, 1, 1), (4, 8, 2), (12, 3, 1), (8, 64, 1)])
def test_text_keeps_its_width_and_its_shares(stages, micro_batches, chunks):
    timeline = _timeline(stages, micro_batches, chunks=chunks)
    lines = timeline_lines(timeline, width=84)
    assert len(lines) == stages
    assert {len(line) for line in lines} == {len("stage  ") + len(str(stages - 1)) + 84}
    idle = sum(line.count(".") for line in lines) / (84 * stages)
    assert idle == pytest.approx(timeline.bubble_share, abs=0.1)


def test_work_of_no_time_makes_no_line_fail():
    nothing = Timeline((Event(0, 0, 0, "forward", 0.0, 0.0),), 0.0, 0.0, (1,))
    assert timeline_lines(nothing, width=5) == ["stage 0 ....."]
    draw_timeline(nothing, title="step")


def _boxes(element):
    """(left, right) of every work in a path."""
    found = re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v", element.attributes["d"])
    return [(float(left), float(left) + float(width)) for left, width in found]


def test_every_event_is_drawn_once_in_its_place_and_nothing_overlaps(parse):
    timeline = _timeline(4, 8, chunks=2)
    figure = parse(draw_timeline(timeline, title="step"))
    paths = [path for path in figure.all("path") if path.attributes["class"].split()[0] in ("forward", "backward")]
    assert len(paths) == 4 * 2 * 2
    boxes = [box for path in paths for box in _boxes(path)]
    assert len(boxes) == len(timeline.events)
    assert all(LEFT <= left < right <= RIGHT for left, right in boxes)
    for stage in range(4):
        own = sorted(box for path in paths if path.text.startswith(f"stage {stage}") for box in _boxes(path))
        assert all(end <= start for (_, end), (start, _) in pairwise(own))


def test_the_share_that_stages_wait_is_told(parse):
    figure = parse(draw_timeline(_timeline(4, 8), title="Simulated step"))
    assert figure.one("figcaption").text == "Simulated step: 33 s; the stages wait 27.3 % of it"
    assert [text.text for text in figure.all("text") if "idle" in text.text] == ["27.3 % idle"] * 4


def test_two_timelines_share_a_scale(parse):
    plan = PlanPicture(_timeline(forward_s=0.1), [GIB, GIB], measured=_timeline(forward_s=0.2))
    page = parse(build_page(Content("t", "h", "", [], plan=plan)))
    section = page.one("section", id="plan")
    ends = [max(_boxes(path)[-1][1] for path in figure.all("path", class_="backward")) for figure in _wide(section)]
    assert ends[1] == pytest.approx(RIGHT, abs=1)
    assert ends[0] - LEFT == pytest.approx((RIGHT - LEFT) / 2, abs=1)


def _wide(section):
    return list(section.all("figure", class_="wide"))


def test_a_run_without_a_plan_has_no_such_section(parse):
    assert not list(parse(build_page(Content("t", "h", "", []))).all("section", id="plan"))


def test_a_page_about_a_plan_alone_says_nothing_of_mistakes(parse):
    content = Content("t", "h", "", [], mistakes=None, plan=PlanPicture(_timeline(), [GIB, GIB]))
    assert [section.attributes["id"] for section in parse(build_page(content)).all("section")] == ["plan"]


def test_thousands_of_works_make_a_small_page():
    drawing = draw_timeline(_timeline(8, 512), title="step")
    assert drawing.count("<") < 600 and len(drawing) < 400_000


def test_memory_bars_have_the_length_of_their_bytes(parse):
    figure = parse(draw_memory([2 * GIB, GIB], limit_bytes=4 * GIB, measured=[GIB, 2 * GIB]))
    planned, measured = (
        [float(bar.attributes["width"]) for bar in figure.all("rect", class_=kind)] for kind in ("forward", "measured")
    )
    assert planned[0] == pytest.approx(2 * planned[1], rel=0.01)
    assert measured == planned[::-1]
    (place,) = re.findall(r"^M([\d.]+) 0V", figure.one("path", class_="limit").attributes["d"])
    assert float(place) - LEFT == pytest.approx(2 * planned[0], rel=0.01)
    assert float(place) <= MEMORY_RIGHT < WIDTH
    assert "2 GiB, measured 1 GiB" in figure.text and "limit 4 GiB" in figure.text


def test_a_limit_far_away_is_named_and_leaves_the_bars_their_length(parse):
    figure = parse(draw_memory([GIB], limit_bytes=500 * GIB))
    assert "limit 500 GiB" in figure.text and not list(figure.all("path", class_="limit"))
    assert float(figure.one("rect").attributes["width"]) == pytest.approx(MEMORY_RIGHT - LEFT)
