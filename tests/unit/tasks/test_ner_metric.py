"""Figures of entities against seqeval, and by hand where it has none."""

import random
import time
from typing import Any

import pytest
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

from ernie_pp.data.entities.document import Entity, Mention
from ernie_pp.data.entities.tags import tags_of
from ernie_pp.tasks.ner.errors import PlaceIndex
from ernie_pp.tasks.ner.metric import measure, metric_names

NONE_IS_0: dict[str, Any] = {"zero_division": 0}  # seqeval calls it a text
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
    true, found = ([[Entity(*span) for span in one] for one in side] for side in (gold, given))
    return measure(true, found, types, **{"headline": "micro_f1", **words})


@pytest.mark.parametrize("seed", range(6))
def test_figures_are_those_of_seqeval(seed):
    rng = random.Random(seed)
    gold = [_spans(rng, 20) for _ in range(30)]
    given = [one if rng.random() < 0.5 else _spans(rng, 20) for one in gold]
    tags = [[tags_of(one, 20, "bio") for one in side] for side in (gold, given)]
    values = _measure(gold, given).values
    for average in ("micro", "macro", "weighted"):
        for name, oracle in SEQEVAL.items():
            expected = oracle(*tags, average=average, mode="strict", scheme=IOB2, **NONE_IS_0)
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


def test_places_that_overlap_are_found_as_by_comparing_all():
    rng = random.Random(5)
    for _ in range(50):
        places = {(start, start + rng.randint(1, 9), rng.choice("AB")) for start in rng.choices(range(40), k=15)}
        index = PlaceIndex(places)
        for start in range(45):
            one = (start, start + rng.randint(1, 6), "A")
            assert index.overlapping(one) == sorted(p for p in places if p[0] < one[1] and one[0] < p[1])


def test_documents_with_thousands_of_entities_take_seconds():
    rng = random.Random(6)
    gold, given = ([[(s, s + 5, "A") for s in rng.sample(range(30_000), 3000)]] for _ in range(2))
    start = time.process_time()
    assert _measure(gold, given).errors.missed > 100
    assert time.process_time() - start < 5


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
