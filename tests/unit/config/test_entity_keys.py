"""What contradicts, or has no effect, in configs of named entities and of other tasks."""

import pytest

from ernie_pp.config import RunConfig
from ernie_pp.config.fields import all_keys
from ernie_pp.config.ner_rules import ner_rules
from ernie_pp.config.task_rules import task_rules

RULE = {"name": "r", "label": "A", "pattern": "甲"}
FIELD = {"name": "f", "labels": ["A"]}


def _told(task="ner", **sections):
    config = RunConfig.model_validate({"task": task, "output_dir": "run", **sections})
    return [*task_rules(config), *(ner_rules(config) if task == "ner" else ())]


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"cls": {"loss": "focal"}, "train": {"rdrop_alpha": 0.5}, "text": {"truncate": "tail"}},
        {"data": {"text_pair": "b", "label": "c", "label_separator": ";", "format": "jsonl"}},
    ],
)
def test_a_config_of_classification_has_nothing_to_say_here(sections):
    assert _told("cls", **sections) == []


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"ner": {"head": "crf", "scheme": "bioes", "crf_learning_rate": 0.1, "overlaps": "longest"}},
        {"ner": {"head": "softmax", "scheme": "bioes", "overlaps": "longest"}},
        {"ner": {"head": "global_pointer", "threshold": 0.4, "pointer_size": 32}},
        {"ner": {"rules": [RULE, RULE | {"name": "s"}]}, "review": {"fields": [FIELD]}, "labels": ["A", "B"]},
        {"ner": {"rules": [RULE]}, "review": {"fields": [FIELD | {"name": "r"}]}, "labels": {"PER": "A"}},
        {"ner": {"rules": [RULE]}},
        {"data": {"format": "conll", "dialect": "doccano"}, "text": {"max_length": 42, "overlap": 20}},
    ],
)
def test_a_sound_config_of_entities_has_nothing_to_say(sections):
    assert _told(**sections) == []


CROSS = [
    ({"ner": {"head": "softmax"}}, "ner.head has no effect: task is cls"),
    ({"ner": {"rules": [RULE]}}, "ner.rules has no effect: task is cls"),
    ({"text": {"overlap": 8}}, "text.overlap has no effect: task is cls"),
    ({"data": {"dialect": "cail"}}, "data.dialect has no effect: task is cls"),
    ({"data": {"format": "conll"}}, "data.format is conll, which holds entities, and task is cls"),
    ({"data": {"format": "brat"}}, "data.format is brat, which holds entities, and task is cls"),
    ({"review": {"fields": [FIELD]}}, "review.fields has no effect: task is cls, and a field is filled from entities"),
]
OWN = [
    ({"cls": {"loss": "focal"}}, "cls.loss has no effect: task is ner"),
    ({"text": {"truncate": "tail"}}, "text.truncate has no effect: task is ner"),
    ({"train": {"rdrop_alpha": 0.5}}, "train.rdrop_alpha has no effect: task is ner"),
    ({"data": {"text_pair": "b"}}, "data.text_pair has no effect: task is ner"),
    ({"data": {"label": "b"}}, "data.label has no effect: task is ner"),
    ({"data": {"label_separator": ";"}}, "data.label_separator has no effect: task is ner"),
    ({"ner": {"threshold": 0.5}}, "ner.threshold has no effect: ner.head is crf"),
    ({"ner": {"head": "softmax", "pointer_size": 32}}, "ner.pointer_size has no effect: ner.head is softmax"),
    (
        {"ner": {"head": "softmax", "crf_learning_rate": 0.1}},
        "ner.crf_learning_rate has no effect: ner.head is softmax",
    ),
    ({"ner": {"head": "global_pointer", "scheme": "bioes"}}, "ner.scheme has no effect: ner.head is global_pointer"),
    (
        {"ner": {"head": "global_pointer", "overlaps": "longest"}},
        "ner.overlaps has no effect: ner.head is global_pointer",
    ),
    (
        {"ner": {"head": "global_pointer", "crf_learning_rate": 0.1}},
        "ner.crf_learning_rate has no effect: ner.head is global_pointer",
    ),
    ({"ner": {"head": "global_pointer", "pointer_size": 33}}, "ner.pointer_size is 33, expected an even number"),
    ({"text": {"max_length": 42, "overlap": 21}}, "text.overlap is 21, expected at most half of the 40 tokens"),
    ({"data": {"format": "conll", "text": "body"}}, "data.text has no effect: data.format is conll"),
    ({"data": {"format": "brat", "text": "body"}}, "data.text has no effect: data.format is brat"),
    ({"ner": {"rules": [RULE, RULE]}}, "ner.rules names 'r' twice"),
    ({"review": {"fields": [FIELD, FIELD]}}, "review.fields names 'f' twice"),
    ({"ner": {"rules": [RULE]}, "labels": ["B"]}, "ner.rules 'r' is about 'A', which is none of the labels"),
    ({"review": {"fields": [FIELD]}, "labels": ["B"]}, "review.fields 'f' is about 'A', which is none of the labels"),
    # Predictions have the shown names, so a value of the data would never be found.
    ({"review": {"fields": [FIELD]}, "labels": {"A": "B"}}, "review.fields 'f' is about 'A', which is none of the"),
    ({"ner": {"rules": [RULE]}, "labels": {"A": "B"}}, "ner.rules 'r' is about 'A', which is none of the labels"),
    (
        {"review": {"fields": [FIELD | {"threshold": 0.9, "doubt": 0.8}]}},
        "review.fields 'f': doubt 0.8 is below its threshold 0.9",
    ),
]


@pytest.mark.parametrize(
    "task, sections, start",
    [("cls", *one) for one in CROSS] + [("ner", *one) for one in OWN],
    ids=lambda one: str(one)[:60],
)
def test_one_contradiction_is_told_once(task, sections, start):
    (told,) = _told(task, **sections)
    assert told.startswith(start)


def test_all_contradictions_are_told_at_once():
    sections = {"ner": {"threshold": 0.5, "rules": [RULE, RULE]}, "cls": {"loss": "focal"}, "labels": ["B"]}
    assert len(_told(**sections)) == 5


@pytest.mark.parametrize("section, task", [("ner", "cls"), ("cls", "ner")])
def test_every_key_of_one_task_is_told_in_the_other(section, task):
    config = RunConfig.model_validate({"task": task, "output_dir": "run"})
    names = {key.split(".")[1] for key in all_keys() if key.startswith(f"{section}.")}
    assert len(names) > 3
    for name in names:
        odd = getattr(config, section).model_copy(update={name: "another value"})
        told = list(task_rules(config.model_copy(update={section: odd})))
        assert told == [f"{section}.{name} has no effect: task is {task}"]


@pytest.mark.parametrize(
    "rule",
    [
        RULE | {"terms": "t.txt"},
        {"name": "r", "label": "A"},
        RULE | {"action": "veto", "score": 0.5},
        RULE | {"score": 0.0},
        RULE | {"score": 1.5},
        RULE | {"action": "keep"},
        RULE | {"weight": 1},
    ],
)
def test_a_rule_that_says_nothing_clear_is_refused(rule):
    with pytest.raises(ValueError, match=r"ner\.rules"):
        _told(ner={"rules": [rule]})
