"""Figures of fields against true values, with scikit-learn as the oracle of the curve."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, precision_recall_curve

from ernie_pp.config.ner import FieldConfig
from ernie_pp.data.entities.document import Mention
from ernie_pp.errors import DataError
from ernie_pp.review.evaluate import compare_field, measure_fields, read_gold
from ernie_pp.review.fields import fill_fields
from ernie_pp.review.wrong import excerpt_around, list_errors
from ernie_pp.tasks.curve import measure_curve

RANKED = st.lists(st.tuples(st.sampled_from([0.1, 0.25, 0.5, 0.7, 0.9, 0.95]), st.booleans()), min_size=1, max_size=40)
PARTY = FieldConfig(name="甲方", labels=("甲方",))
DATES = FieldConfig(name="日期", labels=("日期",), kind="date", many=True)


def outcome(text, gold, *parts, config=PARTY):
    """The outcome of a field whose mentions are (text, score)."""
    places = [(text.index(part), part, score) for part, score in parts]
    mentions = [Mention(start, start + len(part), config.labels[0], score) for start, part, score in places]
    field = fill_fields(text, mentions, [config])[0]
    return field, compare_field(field, gold, config)


@given(RANKED, st.integers(0, 5))
def test_the_area_is_the_one_of_scikit_learn(ranked, num_never_seen):
    truth = [is_true for _, is_true in ranked]
    assume(any(truth))
    num_true = sum(truth) + num_never_seen
    curve = measure_curve(ranked, num_true=num_true, recalls=(0.8,))
    expected = average_precision_score(truth, [score for score, _ in ranked]) * sum(truth) / num_true
    assert curve.average_precision == pytest.approx(expected)


@given(RANKED, st.sampled_from([0.2, 0.8, 0.9, 1.0]))
def test_precision_at_a_recall_is_the_best_point_of_scikit_learns_curve(ranked, wanted):
    truth = [is_true for _, is_true in ranked]
    assume(any(truth))
    precision, recall, _ = precision_recall_curve(truth, [score for score, _ in ranked])
    curve = measure_curve(ranked, num_true=sum(truth), recalls=(wanted,))
    assert curve.precision_at[wanted] == pytest.approx(precision[:-1][recall[:-1] >= wanted - 1e-12].max())


def test_a_recall_that_no_threshold_reaches_has_no_precision():
    curve = measure_curve([(0.9, True)], num_true=2, recalls=(0.5, 0.8))
    assert curve.precision_at == {0.5: 1.0, 0.8: None}
    assert measure_curve([], num_true=3, recalls=(0.8,)).average_precision == 0.0


def test_values_are_equal_when_they_are_normalised_to_the_same():
    text = "甲方：青禾（北京）公司 签于二〇一八年五月三日"
    assert outcome(text, ["青禾(北京)公司"], ("青禾（北京）公司", 0.9))[1].counts == (1, 1, 1)
    assert outcome(text, ["2018-05-03"], ("二〇一八年五月三日", 0.9), config=DATES)[1].counts == (1, 1, 1)


def test_wrong_missing_and_extra_values_are_counted():
    text = "青禾公司 云帆公司"
    assert outcome(text, ["云帆公司"], ("青禾公司", 0.9))[1].counts == (0, 1, 1)
    assert outcome(text, ["云帆公司"])[1].counts == (0, 0, 1)
    assert outcome(text, [], ("青禾公司", 0.9))[1].counts == (0, 1, 0)
    assert outcome(text, [])[1].counts == (0, 0, 0)


def test_of_several_values_each_counts():
    text = "2018年5月3日 2018年6月3日 2018年7月3日"
    parts = [("2018年5月3日", 0.9), ("2018年6月3日", 0.8), ("2018年7月3日", 0.1)]
    found = outcome(text, ["2018/5/3", "2018/7/3"], *parts, config=DATES)[1]
    assert found.counts == (1, 2, 2)
    assert [is_true for _, is_true in found.ranked] == [True, False, True]


def test_micro_sums_values_and_macro_means_fields():
    text = "青禾公司 2018年5月3日"
    right = outcome(text, ["青禾公司"], ("青禾公司", 0.9))[1]
    wrong = outcome(text, ["2019年1月1日"], ("2018年5月3日", 0.9), config=DATES)[1]
    figures = measure_fields([[right, wrong], [right]])
    assert figures.micro.f1 == pytest.approx(2 / 3)
    assert figures.macro_f1 == pytest.approx(0.5)
    assert {name: scores.f1 for name, (scores, _) in figures.fields.items()} == {"甲方": 1.0, "日期": 0.0}
    low, high = figures.interval
    assert low <= figures.micro.f1 <= high


def test_no_documents_have_figures_without_a_division_by_zero():
    figures = measure_fields([])
    assert (figures.num_documents, figures.micro.f1, figures.macro_f1) == (0, 0.0, 0.0)
    assert np.isnan(figures.interval).all()


def test_true_values_are_texts():
    assert read_gold("甲", where="x") == ("甲",)
    assert read_gold(["甲", "乙"], where="x") == ("甲", "乙")
    assert read_gold(None, where="x") == ()
    with pytest.raises(DataError, match=r"rows.jsonl line 3(.|\n)*is 5, expected text"):
        read_gold(5, where="rows.jsonl line 3")


def test_each_error_shows_the_text_around_what_was_found_and_what_is_true():
    text = "甲方为青禾公司，\n乙方为云帆公司。"
    field, found = outcome(text, ["云帆公司"], ("青禾公司", 0.9))
    (error,) = list_errors("7", text, [field], [["云帆公司"]], [found])
    assert (error.kind, error.found, error.true, error.confidence) == ("wrong", ("青禾公司",), ("云帆公司",), 0.9)
    assert error.around == "甲方为【青禾公司】， 乙方为云帆公司。"
    assert error.around_true == "甲方为青禾公司， 乙方为【云帆公司】。"


def test_a_right_field_is_no_error():
    field, found = outcome("青禾公司", ["青禾公司"], ("青禾公司", 0.9))
    assert list(list_errors("7", "青禾公司", [field], [["青禾公司"]], [found])) == []


def test_an_excerpt_is_short():
    assert excerpt_around("前" * 500 + "值" + "后" * 500, 500, 501) == "前" * 30 + "【值】" + "后" * 30
