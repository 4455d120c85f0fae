"""Terms and expressions that add entities, or forbid them."""

import time

import pytest

from ernie_pp.config.ner import RuleConfig
from ernie_pp.data.entities.document import Mention
from ernie_pp.errors import ConfigError, DataError
from ernie_pp.tasks.ner import rules
from ernie_pp.tasks.ner.rules import Rule, RuleFinder, load_rules

TEXT = "甲公司付给乙公司100元和20元。"
MODEL = (Mention(0, 3, "公司", 0.9), Mention(5, 8, "公司", 0.6))


def _apply(*found, nested=False, mentions=MODEL, text=TEXT):
    return RuleFinder([Rule(**one) for one in found]).apply(text, mentions, nested=nested)


def _amounts(**more):
    return {"name": "元", "label": "金额", "action": "add", "pattern": r"([0-9]+)元", **more}


def test_what_a_pattern_finds_is_added_with_its_source():
    found = _apply(_amounts(score=0.7))
    assert [one for one in found if one.source != "model"] == [
        Mention(8, 11, "金额", 0.7, "rule:元"),
        Mention(13, 15, "金额", 0.7, "rule:元"),
    ]
    assert found == tuple(sorted(found))


def test_a_mention_of_the_same_place_and_type_stays_the_models():
    found = _apply({"name": "c", "label": "公司", "action": "add", "terms": ("甲公司",)})
    assert found == MODEL


def test_in_a_flat_scheme_an_added_entity_replaces_what_it_overlaps():
    rule = {"name": "c", "label": "公司", "action": "add", "terms": ("给乙公司",)}
    assert [(one.start, one.end) for one in _apply(rule)] == [(0, 3), (4, 8)]
    assert [(one.start, one.end) for one in _apply(rule, nested=True)] == [(0, 3), (4, 8), (5, 8)]


def test_a_veto_removes_the_exact_place_of_its_type_only():
    veto = {"name": "v", "label": "公司", "action": "veto", "terms": ("乙公司", "甲")}
    assert _apply(veto) == MODEL[:1]
    assert _apply({**veto, "label": "金额"}) == MODEL


def test_an_entity_that_two_rules_find_is_there_once_by_the_surer_then_the_first():
    one, other = ({"name": name, "label": "公司", "action": "add", "terms": ("甲公司",)} for name in "ab")
    for nested in (True, False):
        found = _apply({**one, "score": 0.4}, {**other, "score": 0.8}, nested=nested, mentions=())
        assert found == (Mention(0, 3, "公司", 0.8, "rule:b"),)
        assert [one.source for one in _apply(one, other, nested=nested, mentions=())] == ["rule:a"]


def test_a_mention_of_the_models_that_a_surer_rule_confirms_is_not_displaced():
    sure = {"name": "a", "label": "公司", "action": "add", "terms": ("甲公司",)}
    unsure = {"name": "b", "label": "x", "action": "add", "terms": ("公司付",), "score": 0.5}
    assert _apply(sure, unsure) == MODEL
    assert [one.source for one in _apply(unsure)] == ["rule:b", "model"]


def test_mentions_come_in_order_with_no_rules_and_touching_ones_stay():
    assert RuleFinder([]).apply(TEXT, MODEL[::-1], nested=False) == MODEL
    rule = {"name": "c", "label": "x", "action": "add", "terms": ("付给",)}
    assert [(one.start, one.end) for one in _apply(rule)] == [(0, 3), (3, 5), (5, 8)]


def test_a_veto_knows_a_term_inside_a_longer_one():
    veto = {"name": "v", "label": "公司", "action": "veto", "terms": ("乙公司", "给乙公司100")}
    assert _apply(veto) == MODEL[:1]


def test_a_veto_of_a_part_or_of_more_changes_nothing():
    veto = {"name": "v", "label": "公司", "action": "veto", "terms": ("给乙公司", "甲公", "公司")}
    assert _apply(veto) == MODEL


def test_what_a_veto_forbids_a_rule_may_add():
    veto = {"name": "v", "label": "公司", "action": "veto", "terms": ("乙公司",)}
    add = {"name": "a", "label": "公司", "action": "add", "terms": ("乙公司",)}
    assert [one.source for one in _apply(veto, add)] == ["model", "rule:a"]


def test_rules_travel_as_json():
    rule = Rule("a", "公司", "add", ("甲",), None, 0.5)
    assert Rule.from_json(rule.to_json()) == rule


@pytest.mark.parametrize(
    "changes",
    [{"name": ""}, {"action": "drop"}, {"pattern": "("}, {"pattern": "x*"}, {"pattern": 5}, {"pattern": "a" * 2001},
     {"terms": ["甲"]}, {"pattern": None}, {"score": 0}, {"score": "1"}, {"label": 3}],
)  # fmt: skip
def test_a_rule_that_is_none_is_refused(changes):
    with pytest.raises(ValueError, match=r"rule|pattern"):
        Rule.from_json({**Rule("a", "公司", "add", (), "x").to_json(), **changes})


def test_an_expression_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr(rules, "SEARCH_S", 0.05)
    with pytest.raises(DataError, match="rule slow\n  takes more than"):
        _apply({"name": "slow", "label": "x", "action": "add", "pattern": "(a|aa)+b"}, text="b" + "a" * 3000)


@pytest.mark.parametrize("nested", [True, False])
def test_a_long_text_with_thousands_of_entities_takes_seconds(nested):
    text = "甲乙丙丁戊己庚辛壬癸" * 5000
    mentions = [Mention(place, place + 3, "x", 0.5) for place in range(0, len(text), 10)]
    rule = {"name": "c", "label": "y", "action": "add", "terms": ("丙丁",)}
    start = time.process_time()
    assert len(_apply(rule, nested=nested, mentions=mentions, text=text)) == (10_000 if nested else 5000)
    assert time.process_time() - start < 3


def _load(tmp_path, content=None, labels=("公司",), **config):
    if content is not None:
        (tmp_path / "terms.txt").write_bytes(content)
        config["terms"] = str(tmp_path / "terms.txt")
    return load_rules([RuleConfig(name="r", label="公司", **config)], labels)


def test_terms_are_read_one_a_line(tmp_path):
    (rule,) = _load(tmp_path, "\ufeff甲公司\r\n\n乙公司\n甲公司\n".encode())
    assert rule.terms == ("甲公司", "乙公司")


@pytest.mark.parametrize(
    "words, match",
    [
        ({"content": b"\n \n"}, "holds no terms"),
        ({"content": b"\xff\xfe"}, "UTF-8"),
        ({"pattern": "("}, "is no regular expression"),
        ({"pattern": "x*"}, "matches the empty text"),
        ({"pattern": "x", "labels": ("公司名",)}, "Did you mean '公司名'"),
        ({"terms": "/nowhere/terms.txt"}, "terms.txt"),
    ],
)
def test_a_wrong_rule_is_the_configs_error(tmp_path, words, match):
    with pytest.raises(ConfigError, match=match):
        _load(tmp_path, **words)


def test_more_terms_than_a_bundle_has_room_for_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(rules, "MAX_TERMS_BYTES", 30)
    (tmp_path / "terms.txt").write_text("甲\n乙\n", encoding="utf-8")
    config = RuleConfig(name="r", label="人", terms=str(tmp_path / "terms.txt"))
    assert load_rules([config], ["人"])[0].terms == ("甲", "乙")
    with pytest.raises(ConfigError, match="no bundle has room"):
        load_rules([config, config], ["人"])
