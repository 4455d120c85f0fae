"""Words in the plan's figures can be read: on a bar that has room, else beside it; and what differs is explained."""

import pytest

from ernie_pp.partition.simulate import Event, Timeline
from ernie_pp.report import PlanPicture
from ernie_pp.report.timeline import MEMORY_WIDTH, draw_memory, draw_plan

MIB = 1 << 20
STEP = Timeline((Event(0, 0, 0, "forward", 0.0, 1.0),), 1.0, 0.0, (1,))


@pytest.mark.parametrize("measured", [None, [900 * MIB, 1000 * MIB]])
def test_words_of_a_short_bar_stand_beside_it(parse, measured):
    figure = parse(draw_memory([20 * MIB, 1000 * MIB], limit_bytes=None, measured=measured))
    beside, on_bar = figure.one("text", class_="by-bar"), figure.one("text", class_="on-bar")
    assert beside.text.startswith("20 MiB") and on_bar.text.startswith("1")
    bar = next(figure.all("rect", class_="forward")).attributes
    assert float(beside.attributes["x"]) >= float(bar["x"]) + float(bar["width"])


@pytest.mark.parametrize("share", [0.0, 0.3, 0.45, 0.5, 0.55, 1.0])
def test_words_of_any_bar_stay_in_the_figure(parse, share):
    planned = [int(share * 999 * MIB), 999 * MIB]
    figure = parse(draw_memory(planned, limit_bytes=None, measured=[888 * MIB, 888 * MIB]))
    for text in (*figure.all("text", class_="by-bar"), *figure.all("text", class_="on-bar")):
        assert float(text.attributes["x"]) + 7 * len(text.text) <= MEMORY_WIDTH


def test_a_measured_step_is_told_to_have_shorter_rows_than_the_simulated(parse):
    (note,) = parse(draw_plan(PlanPicture(STEP, [MIB], measured=STEP))).all("p", class_="note")
    assert "as long as the longest" in note.text
    assert not list(parse(draw_plan(PlanPicture(STEP, [MIB]))).all("p"))
