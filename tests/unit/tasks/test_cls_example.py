"""From rows to examples: what is taken, and how each thing that is not is named."""

import numpy as np
import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.labels import LabelSet
from ernie_pp.data.rows import Place, Row
from ernie_pp.tasks.cls.example import Columns, Example, keep_known_labels, read_examples
from ernie_pp.tasks.cls.features import build_targets, true_labels

SINGLE = Columns("text", None, "label")
MANY = Columns("text", None, "label", multi_label=True)
SEPARATED = Columns("text", None, "label", multi_label=True, label_separator="|")


def _read(fields, columns=SINGLE):
    """(labels of the example or None, faults) of one row."""
    faults = Faults(on_error="skip")
    found = list(read_examples([Row(Place("a.jsonl", 7), fields)], columns, faults))
    return found[0].labels if found else None, faults.listed


@pytest.mark.parametrize(
    "value, label",
    [
        ("好评", "好评"),
        (" 好评\t", "好评"),
        (1, "1"),
        (0, "0"),
        (-3, "-3"),
        ("1", "1"),
        (True, "true"),
        (False, "false"),
        (10**30, "1" + "0" * 30),
    ],
)
def test_a_label_is_text_or_a_whole_number(value, label):
    assert _read({"text": "好", "label": value}) == ((label,), ())


@pytest.mark.parametrize("value", [None, "", "  ", 1.0, 0.5, [], ["好评"], {"a": 1}])
def test_other_values_are_no_label(value):
    labels, (fault,) = _read({"text": "好", "label": value})
    assert labels is None
    assert (fault.place, fault.column) == (Place("a.jsonl", 7), "label")
    assert fault.expected == "a label: text or a whole number"


@pytest.mark.parametrize(
    "value, columns, labels",
    [
        (["价格", "服务"], MANY, ("价格", "服务")),
        (["价格", "价格", " 价格"], MANY, ("价格",)),
        ([3, "x", True], MANY, ("3", "x", "true")),
        ([], MANY, ()),
        ("", MANY, ()),
        ("价格|服务", MANY, ("价格|服务",)),
        (5, MANY, ("5",)),
        ("价格|服务", SEPARATED, ("价格", "服务")),
        ("| 价格 ||服务|", SEPARATED, ("价格", "服务")),
        ("", SEPARATED, ()),
        (" | ", SEPARATED, ()),
        (["价格|服务"], SEPARATED, ("价格|服务",)),
    ],
)
def test_several_labels_come_as_a_list_or_a_separated_text(value, columns, labels):
    assert _read({"text": "好", "label": value}, columns) == (labels, ())


@pytest.mark.parametrize("value", [None, [None], ["a", ["b"]], [1.5], [""], {"a": 1}])
def test_lists_of_other_things_are_faults(value):
    labels, (fault,) = _read({"text": "好", "label": value}, MANY)
    assert labels is None and fault.expected == "a list of labels, each text or a whole number"


@pytest.mark.parametrize("text", ["", " ", "\u3000\u00a0", "\u200b\ufeff", "\r\n\t", "\u2028", "\x00\x1f"])
def test_a_text_without_a_visible_character_is_empty(text):
    labels, (fault,) = _read({"text": text, "label": 1})
    assert labels is None and fault.column == "text" and "not empty" in fault.expected


@pytest.mark.parametrize("text", [None, 5, ["好"], {"text": "好"}, True])
def test_a_text_is_a_string(text):
    _, (fault,) = _read({"text": text, "label": 1})
    assert (fault.column, fault.value, fault.expected) == ("text", repr(text), "text")


@pytest.mark.parametrize("text", ["。", "?", "\U0001f44d", "NA", "null", "nan", "123", " x "])
def test_any_visible_text_is_taken_as_it_is(text):
    faults = Faults()
    (example,) = read_examples([Row(Place("a", 1), {"text": text, "label": 1})], SINGLE, faults)
    assert example.text == text


def test_a_missing_field_lists_those_there_are():
    _, (fault,) = _read({"texts": "好", "label": 1})
    assert (fault.column, fault.value) == ("text", "(missing)") and "texts, label" in fault.expected
    _, (fault,) = _read({"text": "好", "lable": 1})
    assert fault.column == "label" and "text, lable" in fault.expected


def test_everything_wrong_with_a_row_is_told():
    _, faults = _read({"text": "", "b": None, "label": None}, Columns("text", "b", "label"))
    assert [fault.column for fault in faults] == ["text", "b", "label"]


def test_rows_to_predict_need_no_label():
    assert _read({"text": "好", "label": None}, Columns("text", None, None)) == (None, ())


def _example(*labels, line=1):
    return Example(Place("a.tsv", line), "好", None, labels)


def test_an_unknown_label_names_the_nearest_and_what_to_do():
    faults = Faults(on_error="skip")
    labels = LabelSet.from_config({"pos": "正面", "neg": "负面"})
    kept = list(
        keep_known_labels([_example("pos"), _example("negg", line=9), _example("正面")], labels, faults, "类别")
    )
    assert [example.labels for example in kept] == [("pos",), ("正面",)]
    (fault,) = faults.listed
    assert (fault.place.line, fault.column, fault.value) == (9, "类别", "negg")
    assert 'nearest: "neg"' in fault.expected and "pos, neg" in fault.expected and '"labels"' in fault.advice


def test_one_unknown_label_of_several_drops_the_row():
    faults = Faults(on_error="skip")
    assert not list(keep_known_labels([_example("a", "?")], LabelSet.from_config(("a", "b")), faults, "label"))
    assert faults.listed[0].value == "?"


def test_targets_and_true_labels_agree():
    labels = LabelSet.from_config(("a", "b", "c"))
    single = build_targets([_example("c"), _example("a")], labels, multi_label=False)
    assert single.dtype == np.int64 and single.tolist() == [2, 0]
    assert true_labels(single, 3).tolist() == [[False, False, True], [True, False, False]]
    many = build_targets([_example("c", "a"), _example()], labels, multi_label=True)
    assert many.dtype == np.float32 and many.tolist() == [[1, 0, 1], [0, 0, 0]]
    assert true_labels(many, 3).tolist() == [[True, False, True], [False, False, False]]
