"""The plain methods find what their cues and their dictionary say, where it stands."""

import json
import time

import pytest

from ernie_pp.config.ner import FieldConfig
from ernie_pp.review.baselines import CUE_FIELDS, CueFinder, DictionaryFinder
from ernie_pp.review.evaluate import compare_field, measure_fields
from ernie_pp.review.fields import fill_fields

CONFIGS = [FieldConfig(name=name, labels=(name,)) for name in CUE_FIELDS]


def best(text, mentions):
    """The text of each field that was found."""
    fields = fill_fields(text, mentions, CONFIGS)
    return {field.name: field.values[0].text for field in fields if field.values}


CUES = [
    (
        "1、甲方:青禾水务有限公司2、乙方:云帆管业股份有限公司",
        {"甲方": "青禾水务有限公司", "乙方": "云帆管业股份有限公司"},
    ),
    (
        "招标人:青禾轨道集团有限公司项目名称:江泽市2号线工程,",
        {"甲方": "青禾轨道集团有限公司", "项目名称": "江泽市2号线工程"},
    ),
    ("发包人(甲方)为青禾(集团)有限公司。", {"甲方": "青禾(集团)有限公司"}),
    ("公司收到招标单位青禾城建局发来的《中标通知书》", {"甲方": "青禾城建局"}),
    (
        "近日与青禾能源有限公司(以下简称“青禾”)签订了《设备采购合同》。",
        {"甲方": "青禾能源有限公司", "合同名称": "设备采购合同"},
    ),
    ("合同名称:塔架供货合同,金额4448万元", {"合同名称": "塔架供货合同"}),
    ("全资子公司云帆设计有限公司(以下简称“设计公司”)中标", {"乙方": "云帆设计有限公司"}),
    ("今天天气很好,双方没有签字。", {}),
]


@pytest.mark.parametrize(("text", "found"), CUES)
def test_a_cue_gives_the_value_that_follows_it(text, found):
    (mentions,) = CueFinder()([text])
    assert best(text, mentions) == found


TRAIN = [
    ("青禾公司与云帆公司签约", {"甲方": ["青禾公司"], "乙方": ["云帆公司"]}),
    ("青禾公司开会", {}),
    ("青禾公司与云帆公司江泽分公司签约", {"甲方": ["青禾公司"], "乙方": ["云帆公司江泽分公司"]}),
]


def test_the_dictionary_finds_the_longest_training_value_with_the_share_of_documents_it_was_the_field_in():
    text = "甲:青禾公司,乙:云帆公司江泽分公司"
    (mentions,) = DictionaryFinder(TRAIN)([text])
    found = [(text[one.start : one.end], one.label, round(one.score, 3)) for one in mentions]
    assert found == [("青禾公司", "甲方", 0.667), ("云帆公司江泽分公司", "乙方", 1.0)]


def test_a_dictionary_of_nothing_finds_nothing():
    assert DictionaryFinder([("青禾公司", {})])(["青禾公司"]) == [()]


@pytest.mark.parametrize("text", ["甲方:" * 3000, "甲方:" + "青禾" * 5000, "与" * 10000, "“" * 10000, "签订了" * 4000])
def test_no_text_takes_long(text):
    start = time.perf_counter()
    CueFinder()([text])
    assert time.perf_counter() - start < 10


def test_the_cues_are_a_fair_baseline_of_real_announcements(shared_data):
    """Not a straw man: a model that beats it has learnt something."""
    lines = (shared_data / "fddc_contracts/dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    documents = []
    for row, mentions in zip(rows, CueFinder()([row["text"] for row in rows]), strict=True):
        fields = fill_fields(row["text"], mentions, CONFIGS)
        golds = [[row["fields"][name]] if name in row["fields"] else [] for name in CUE_FIELDS]
        documents.append([compare_field(*one) for one in zip(fields, golds, CONFIGS, strict=True)])
    assert measure_fields(documents).micro.f1 > 0.7
