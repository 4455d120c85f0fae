"""The plain method: as many rows as it can take in seconds, and said where those are not all."""

import logging

import numpy as np
import pytest

from ernie_pp.config import RunConfig
from ernie_pp.data.labels import LabelSet
from ernie_pp.tasks.cls import baseline
from ernie_pp.tasks.cls.baseline import count_rows, fit_baseline
from ernie_pp.tasks.cls.task import Task


@pytest.mark.parametrize(
    "num_rows, num_labels, expected",
    [(9_000, 2, 9_000), (80_000, 2, 50_000), (20_000, 500, 4_000), (20_000, 5_000_000, 1)],
)
def test_rows_are_fewer_where_labels_are_many(num_rows, num_labels, expected):
    assert count_rows(num_rows, num_labels=num_labels) == expected


def test_left_out_rows_are_said_in_the_log(monkeypatch, caplog):
    monkeypatch.setattr(baseline, "MAX_DECISIONS", 20)
    true = np.arange(40)[:, None] % 2 == np.arange(2)
    with caplog.at_level(logging.INFO, logger="ernie_pp"):
        logging.getLogger("ernie_pp").addHandler(caplog.handler)
        given = fit_baseline(["好", "坏"] * 20, true, ["好", "坏"], multi_label=False, seed=0)
        logging.getLogger("ernie_pp").removeHandler(caplog.handler)
    assert given.tolist() == [[True, False], [False, True]]
    assert "fitted on 10 of 40 training rows, 2 labels" in caplog.text


def test_the_report_says_on_which_rows_the_baseline_stands():
    labels = tuple(map(str, range(500)))
    task = Task(RunConfig(task="cls", output_dir="unused"), LabelSet(labels, labels))
    assert any("on 4000 of 20000 training rows" in note for note in task.notes(num_train_rows=20_000))
    assert any("on the same training rows" in note for note in task.notes(num_train_rows=400))
