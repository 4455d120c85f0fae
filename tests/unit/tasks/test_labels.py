"""The labels of a run: their order, their names, and who is meant by what a row says."""

import subprocess
import sys

import pytest
import sample_run

from ernie_pp.data.labels import LabelSet
from ernie_pp.errors import ConfigError


def test_a_list_keeps_its_order():
    labels = LabelSet.from_config(("负面", "中性", "正面"))
    assert [labels.index_of(value) for value in ("负面", "中性", "正面", "好")] == [0, 1, 2, None]
    assert labels.values == labels.names and len(labels) == 3


def test_a_mapping_gives_shown_names_and_takes_both():
    labels = LabelSet.from_config({"0": "差评", "1": "好评"})
    assert labels.names == ("差评", "好评")
    assert labels.index_of("1") == labels.index_of("好评") == 1


def test_a_value_wins_over_another_labels_name():
    labels = LabelSet.from_config({"1": "2", "2": "1"})
    assert [labels.index_of("1"), labels.index_of("2")] == [0, 1]


@pytest.mark.parametrize(
    "values, ordered",
    [
        (["10", "9", "-1", "9"], ("-1", "9", "10")),
        (["体育", "财经", "a"], ("a", "体育", "财经")),
        (["1", "2", "x"], ("1", "2", "x")),
        (["--1", "-1"], ("--1", "-1")),
        (["²", "1"], ("1", "²")),
        (["01", "1", "001"], ("001", "01", "1")),
        (["9" * 5000, "1"], ("1", "9" * 5000)),
    ],
)
def test_labels_of_the_data_are_sorted_as_numbers_where_all_are(values, ordered):
    assert LabelSet.from_data(values).values == ordered


def test_the_order_does_not_depend_on_the_process():
    code = "from ernie_pp.data.labels import LabelSet\nprint(LabelSet.from_data(['01', '1', '001', '0001']).values)"
    found = {
        subprocess.check_output([sys.executable, "-c", code], env=sample_run.environment(PYTHONHASHSEED=seed))
        for seed in "1234"
    }
    assert len(found) == 1


@pytest.mark.parametrize("values", [[], ["好"], ["好", "好"]])
def test_fewer_than_two_labels_are_refused(values):
    with pytest.raises(ConfigError, match=r"at least two labels(.|\n)*data\.label"):
        LabelSet.from_data(values)


def test_the_nearest_label_is_named():
    labels = LabelSet.from_config({"pos": "正面评价", "neg": "负面评价"})
    assert labels.nearest("正面评论") == "正面评价"
    assert labels.nearest("poss") == "pos"
    assert labels.nearest("完全不同") is None
