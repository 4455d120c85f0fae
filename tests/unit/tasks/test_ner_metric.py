"""Figures of entities against seqeval, and by hand where it has none."""

import random

import pytest
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

from ernie_pp.data.entities.document import Entity, Mention
from ernie_pp.data.entities.tags import tags_of
from ernie_pp.tasks.ner.metric import measure, metric_names

SEQEVAL = {"precision": precision_score, "recall": recall_score, "f1": f1_score}


def _spans(rng, length):
    spans, place = [], 0
    while place < length:
        if rng.random() < 0.3:
            end = min(length, place + rng.randint(1, 4))
            spans.append((place, end, rng.choice("ABC")))
            place = end
        else:
            place += 1
    return spans


def _measure(gold, given, types="ABC", **words):
    sides = [[[Entity(*span) for span in one] for one in side] for side in (gold, given)]
    return measure(*sides, types, **{"headline": "micro_f1", **words})


@pytest.mark.parametrize("seed", range(6))
def test_figures_are_those_of_seqeval(seed):
    rng = random.Random(seed)
    gold = [_spans(rng, 20) for _ in range(30)]
    given = [one if rng.random() < 0.5 else _spans(rng, 20) for one in gold]
    tags = [[tags_of(one, 20, "bio") for one in side] for side in (gold, given)]
    values = _measure(gold, given).values
    for average in ("micro", "macro", "weighted"):
        for name, oracle in SEQEVAL.items():
            expected = oracle(*tags, average=average, mode="strict", scheme=IOB2, zero_division=0)
            assert values[f"{average}_{name}"] == pytest.approx(expected)
    assert values["flat_f1"] == pytest.approx(values["micro_f1"])
    assert set(values) == set(metric_names())


def test_borders_are_told_from_types():
    gold = [[(0, 2, "A"), (3, 5, "B"), (6, 8, "A"), (9, 10, "C"), (12, 14, "C")]]
    given = [[(0, 2, "A"), (3, 5, "A"), (6, 9, "A"), (9, 11, "B"), (20, 21, "B")]]
    found = _measure(gold, given)
    assert vars(found.errors) == {"type": 1, "border": 1, "border_and_type": 1, "spurious": 1, "missed": 1}
    assert found.values["boundary_f1"] == pytest.approx(0.4)
    assert found.values["type_accuracy"] == pytest.approx(0.5)


def test_nested_entities_have_figures_of_their_own():
    gold = [[(0, 6, "A"), (0, 2, "B"), (10, 12, "B")]]
    given = [[(0, 6, "A"), (10, 12, "B"), (20, 21, "C")]]
    values = _measure(gold, given).values
    assert values["nested_f1"] == pytest.approx(2 / 3)  # one of two, and nothing wrong
    assert values["flat_f1"] == pytest.approx(2 / 3)  # one of one, and one wrong


def test_lengths_are_those_of_the_characters():
    by_length = {
        f.name: (f.support, f.given) for f in _measure([[(0, 1, "A"), (2, 5, "A")]], [[(0, 30, "A")]]).by_length
    }
    assert by_length["1"] == (1, 0) and by_length["2-3"] == (1, 0) and by_length["over 20"] == (0, 1)


@pytest.mark.parametrize("headline", metric_names())
def test_the_interval_is_about_the_headline(headline):
    rng = random.Random(9)
    gold = [_spans(rng, 20) for _ in range(60)]
    given = [one if rng.random() < 0.5 else _spans(rng, 20) for one in gold]
    found = _measure(gold, given, headline=headline)
    low, high = found.interval
    assert low <= found.values[headline] <= high and (low < high or headline == "nested_f1")


def test_nothing_given_is_0_and_a_prediction_counts_by_its_place_and_type():
    assert _measure([[(0, 1, "A")]], [[]]).values["micro_f1"] == 0.0
    assert _measure([[]], [[]]).values["micro_f1"] == 0.0
    found = measure([[Entity(0, 1, "A")]], [[Mention(0, 1, "A", 0.2, "rule:x")]], "A", headline="micro_f1")
    assert found.values["micro_f1"] == 1.0
