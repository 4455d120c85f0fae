"""Figures as files and words."""

import json

from ernie_pp.jobs.figures import say_count, write_figures


def test_a_list_of_numbers_takes_one_line_and_reads_back(tmp_path):
    values = {"confusion": [[1, 2], [3, 4]], "interval_95": [0.5, -1e-9], "per_label": [{"label": "[\n1\n]"}], "a": []}
    write_figures(tmp_path / "figures.json", values)
    text = (tmp_path / "figures.json").read_text(encoding="utf-8")
    assert json.loads(text) == values
    assert "[1, 2],\n" in text and "[0.5, -1e-09]" in text


def test_one_is_said_as_one():
    assert [say_count(count, "row") for count in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
