"""Mentions become a field's value, its confidence and what a reviewer has to look at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ernie_pp.config.ner import FieldConfig
from ernie_pp.data.entities.document import Mention
from ernie_pp.review.fields import combine_scores, fill_fields
from ernie_pp.review.values import normalize_value

TEXT = "甲方：青禾（北京）公司。青禾(北京)公司，乙方：云帆公司；总价壹佰万元整，即1,000,000.00元，定金5万元。"


def mention(text, label="甲方", score=0.9, nth=0, source="model"):
    """The nth place of a text in TEXT."""
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(text, start + 1)
    return Mention(start, start + len(text), label, score, source)


def fill(*mentions, **config):
    values = {"name": "甲方", "labels": ("甲方",), **config}
    return fill_fields(TEXT, mentions, [FieldConfig(**values)])[0]


def test_variants_of_one_value_are_one():
    field = fill(mention("青禾（北京）公司", score=0.7), mention("青禾(北京)公司", score=0.8))
    assert [(one.value, one.text) for one in field.values] == [("青禾(北京)公司", "青禾(北京)公司")]
    assert [TEXT[one.start : one.end] for one in field.values[0].mentions] == ["青禾（北京）公司", "青禾(北京)公司"]


def test_words_and_figures_of_one_amount_are_one():
    amounts = [mention(text, "金额") for text in ("壹佰万元整", "1,000,000.00元", "5万元")]
    field = fill(*amounts, labels=("金额",), kind="amount", many=True)
    assert [(one.value, len(one.mentions)) for one in field.values] == [("1000000.00", 2), ("50000.00", 1)]


def test_the_surest_value_wins_and_the_others_are_kept():
    field = fill(mention("云帆公司", score=0.6), mention("青禾（北京）公司", score=0.95))
    assert [one.text for one in field.values] == ["青禾（北京）公司"]
    assert [one.text for one in field.others] == ["云帆公司"]
    assert (field.status, field.needs_a_look) == ("found", False)


def test_of_equals_the_one_that_stands_first_wins():
    field = fill(mention("云帆公司"), mention("青禾（北京）公司"))
    assert [one.text for one in field.candidates] == ["青禾（北京）公司", "云帆公司"]


def test_a_field_whose_second_value_is_as_likely_is_in_doubt():
    field = fill(mention("云帆公司", score=0.93), mention("青禾（北京）公司", score=0.95))
    assert (field.status, field.reason, field.needs_a_look) == ("doubt", "another value is as likely", True)


def test_below_the_threshold_nothing_is_found_and_below_doubt_it_is_in_doubt():
    assert fill(mention("云帆公司", score=0.49)).status == "missing"
    assert fill(mention("云帆公司", score=0.49)).others[0].text == "云帆公司"
    assert fill(mention("云帆公司", score=0.5)).reason == "low confidence"
    assert fill(mention("云帆公司", score=0.8)).status == "found"


def test_a_missing_field_needs_a_look_only_where_it_is_required():
    assert fill().needs_a_look
    assert not fill(required=False).needs_a_look


def test_mentions_of_other_labels_do_not_count():
    assert fill(mention("云帆公司", "乙方")).candidates == ()


def test_several_labels_may_fill_one_field():
    found = fill(mention("云帆公司", "乙方"), labels=("甲方", "乙方"))
    assert found.values[0].text == "云帆公司"


def test_an_amount_that_cannot_be_read_is_in_doubt_not_missing():
    field = fill(mention("定金", "金额"), labels=("金额",), kind="amount")
    assert (field.status, field.reason, field.values) == ("doubt", "no amount can be read", ())
    assert [one.start for one in field.unread] == [TEXT.index("定金")]


def test_one_place_that_a_rule_and_the_model_found_counts_once():
    field = fill(mention("云帆公司", score=0.6), mention("云帆公司", score=0.5, source="names"))
    assert (field.values[0].confidence, len(field.values[0].mentions)) == (pytest.approx(0.6), 1)


def test_one_mention_gives_its_own_score_and_more_of_them_a_higher_one():
    assert combine_scores([0.7]) == pytest.approx(0.7)
    assert 0.7 < combine_scores([0.7, 0.2]) < combine_scores([0.7, 0.7]) < 1 - 0.3**2
    assert combine_scores([1.0, 0.2]) == 1.0
    assert combine_scores([]) == 0.0


def test_no_number_of_weak_mentions_passes_a_threshold():
    assert combine_scores([0.34] * 10_000) < 0.5


@given(st.lists(st.floats(0, 1), max_size=20), st.randoms())
def test_confidence_is_a_probability_whatever_the_order(scores, random):
    other = list(scores)
    random.shuffle(other)
    assert 0 <= combine_scores(scores) == combine_scores(other) <= 1
    assert combine_scores(scores) >= max(scores, default=0) - 1e-12


@given(st.permutations([("青禾（北京）公司", 0.9), ("云帆公司", 0.9), ("青禾(北京)公司", 0.9), ("总价", 0.2)]))
def test_the_order_of_mentions_changes_nothing(parts):
    assert fill(*(mention(text, score=score) for text, score in parts)) == fill(
        mention("总价", score=0.2), mention("云帆公司"), mention("青禾(北京)公司"), mention("青禾（北京）公司")
    )


SAME = [
    ("《采购合同》", "采购合同"),
    ("ＡＢＣ公司（集团）", "ABC公司(集团)"),
    ("“平安”工程", '"平安"工程'),
    ("1-3号 标段", "1–3号标段"),
    ("一期、二期工程。", "一期，二期工程"),
    ("青禾\n公司", "青禾公司"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_differences_nobody_means_are_none(one, other):
    assert normalize_value(one, "text") == normalize_value(other, "text") is not None


@pytest.mark.parametrize(("one", "other"), [("青禾公司", "青禾"), ("一期", "二期"), ("《甲》和《乙》", "甲》和《乙")])
def test_other_values_stay_apart(one, other):
    assert normalize_value(one, "text") != normalize_value(other, "text")


def test_a_range_of_dates_is_one_value():
    assert normalize_value("2018年5月1日至2019年4月30日", "date") == "2018-05-01/2019-04-30"
    assert normalize_value("签订之日", "date") is None
    assert normalize_value("。", "text") is None
