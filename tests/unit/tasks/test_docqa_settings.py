"""Decode settings as a manifest holds them, and the list of wrongly answered questions."""

import json
import math

import pytest

from ernie_pp.config.docqa import DocqaConfig
from ernie_pp.data.questions.question import Answer, Document, Question
from ernie_pp.data.rows import Place
from ernie_pp.tasks.docqa.metric import Outcome
from ernie_pp.tasks.docqa.mistakes import list_mistakes
from ernie_pp.tasks.docqa.prediction import FoundAnswer, Prediction
from ernie_pp.tasks.docqa.settings import ALL_KINDS, PLAIN_KINDS, DecodeSettings, output_names

GOOD = {"labels": list(PLAIN_KINDS), "max_answer": 30, "num_best": 5, "threshold": 0.5}


@pytest.mark.parametrize("labels", [PLAIN_KINDS, ALL_KINDS])
def test_settings_come_back_from_json(labels):
    chosen = DecodeSettings(labels, 400, 50, 0.25)
    assert DecodeSettings.from_json(json.loads(json.dumps(chosen.to_json()))) == chosen
    assert chosen.num_outputs == len(output_names(labels)) == (4 if chosen.has_yes_no else 2)


@pytest.mark.parametrize(
    "changed",
    [
        {"labels": ["span"]},
        {"labels": ["none", "span"]},
        {"labels": [["span"], "none"]},
        {"labels": "span"},
        {"max_answer": 0},
        {"max_answer": 2.0},
        {"max_answer": True},
        {"max_answer": 1 << 31},
        {"num_best": 0},
        {"num_best": 51},
        {"threshold": -0.1},
        {"threshold": 1.1},
        {"threshold": math.nan},
        {"threshold": True},
        {"threshold": "tuned"},
    ],
    ids=str,
)
def test_values_that_no_training_gives_are_refused(changed):
    with pytest.raises(ValueError, match="decode"):
        DecodeSettings.from_json(GOOD | changed)


@pytest.mark.parametrize("name", GOOD)
def test_settings_that_lack_a_value_are_refused(name):
    with pytest.raises(ValueError, match="decode lacks one of labels, max_answer, num_best, threshold"):
        DecodeSettings.from_json({key: value for key, value in GOOD.items() if key != name})


def test_an_output_of_another_shape_is_named():
    DecodeSettings.from_json(GOOD).check_output((3, 20, 2), 20)
    for shape in ((3, 20, 4), (3, 19, 2), (3, 2)):
        with pytest.raises(ValueError, match="expected 2 a token"):
            DecodeSettings.from_json(GOOD).check_output(shape, 20)


def _question(number, kind, *answers):
    document = Document("d", "甲方为张三。")
    found = tuple(Answer(text, 3, 5) for text in answers)
    return Question(Place("q.json", number), f"q{number}", "甲方是谁", document, kind, found)


def _given(kind, text, score):
    return Prediction(kind, score, (FoundAnswer("span", text, score, 3, 5),), "甲方为张三。")


def test_mistakes_are_listed_with_the_surest_first():
    questions = [
        _question(1, "span", "张三", "张三"),
        _question(2, "span", "李四"),
        _question(3, "none"),
        _question(4, "span", "王五"),
    ]
    predictions = [_given("span", "张三", 0.9), *(_given("span", "张三", score) for score in (0.6, 0.7))]
    predictions.append(_given("none", "张三", 0.1))
    outcomes = [
        Outcome(one.kind, one.gold_texts, found.given, found.best, found.score, 6, 1)
        for one, found in zip(questions, predictions, strict=True)
    ]
    found = list_mistakes(questions, predictions, outcomes, DocqaConfig(), limit=9)
    assert [(one.place, one.true, one.given, round(one.probability, 6)) for one in found] == [
        ("q.json line 4 q4", "王五", "(no answer)", 0.9),
        ("q.json line 3 q3", "(no answer)", "张三", 0.7),
        ("q.json line 2 q2", "李四", "张三", 0.6),
    ]
    assert list_mistakes(questions, predictions, outcomes, DocqaConfig(), limit=1) == found[:1]
