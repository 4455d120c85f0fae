"""Documents for training, and texts to predict: which are taken, and what is said of the others."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ernie_pp.config import RunConfig
from ernie_pp.data.entities.document import Document, Entity
from ernie_pp.data.faults import Faults
from ernie_pp.data.labels import LabelSet
from ernie_pp.data.rows import Place, Row
from ernie_pp.errors import ConfigError, DataError
from ernie_pp.tasks.ner.example import (
    Columns,
    Example,
    find_overlaps,
    keep_known_types,
    keep_labelled,
    kept_fields,
    overlap_fault,
    read_examples,
    without,
)
from ernie_pp.tasks.ner.task import Task

BLANK = ["", " \n", "\u3000", "\u200b\ufeff"]
SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6), st.sampled_from("AB")), max_size=9)


def _document(*entities, text="甲乙丙丁戊己庚辛", line=1):
    return Document(Place("f", line), text, tuple(Entity(*one) for one in entities))


def _skipping():
    return Faults(on_error="skip")


def test_texts_to_predict_are_taken_from_their_column_and_keep_their_place():
    rows = [Row(Place("f", 1), {"body": " 甲 ", "entities": "x"}), Row(Place("f", 4), {"body": "乙"})]
    faults = Faults()
    examples = list(read_examples(rows, Columns("body"), faults))
    assert examples == [Example(Place("f", 1), " 甲 "), Example(Place("f", 4), "乙")] and not faults.count


@pytest.mark.parametrize("value", [*BLANK, None, 5, ["甲"]])
def test_what_is_no_text_to_see_is_a_fault_of_its_row(value):
    faults = _skipping()
    rows = [Row(Place("f", 3), {"text": value}), Row(Place("f", 4), {"text": "乙"}), Row(Place("f", 5), {})]
    assert [one.text for one in read_examples(rows, Columns("text"), faults)] == ["乙"]
    assert [(fault.place.line, fault.column) for fault in faults.listed] == [(3, "text"), (5, "text")]


def test_entities_that_a_row_came_with_are_kept_beside_the_predicted_ones():
    assert kept_fields({"id": 1, "entities": [2]}) == {"id": 1, "true_entities": [2]}


def test_entities_that_were_predicted_before_do_not_take_the_place_of_true_ones():
    fields = {"true_entities": [1], "entities": [2]}
    assert kept_fields(fields) == fields


@pytest.mark.parametrize("text", BLANK)
def test_a_text_that_cannot_be_seen_is_not_learned_from(text):
    faults = _skipping()
    assert list(keep_labelled([_document(text=text), _document(line=2)], faults, text="body")) == [_document(line=2)]
    assert [fault.column for fault in faults.listed] == ["body"]


def test_a_document_that_marks_nothing_is_a_fault_and_one_without_entities_is_none():
    faults = _skipping()
    unmarked = Document(Place("f", 1), "甲", None)
    assert list(keep_labelled([unmarked, _document()], faults, text="text")) == [_document()]
    (fault,) = faults.listed
    assert fault.column == "entities" and "empty list" in fault.advice


def test_types_get_their_shown_names_whichever_of_both_the_file_has():
    labels = LabelSet.from_config({"PER": "人", "LOC": "地"})
    document = _document((0, 1, "PER"), (1, 2, "地"))
    (kept,) = keep_known_types([document], labels, Faults())
    assert kept.entities == (Entity(0, 1, "人"), Entity(1, 2, "地"))


def test_an_unknown_type_is_told_with_its_text_and_the_nearest_name():
    faults = Faults()
    documents = [_document((0, 1, "ORG"), (2, 4, "ORGG"), line=6), _document((0, 1, "ORG"), line=7)]
    assert list(keep_known_types(documents, LabelSet.from_config(["ORG", "PER"]), faults)) == documents[1:]
    with pytest.raises(DataError, match=r'f line 6\n[\s\S]*"ORGG", expected one of the types ORG, PER') as caught:
        faults.check()
    assert "丙丁" in str(caught.value) and 'Did you mean "ORG"?' in str(caught.value)


@given(spans=SPANS)
def test_what_stays_never_overlaps_and_what_goes_overlaps_something_that_stays(spans):
    entities = sorted({(start, start + length, label) for start, length, label in spans})
    document = _document(*entities, text="甲" * 20)
    overlaps = find_overlaps(document)
    kept = without(document, overlaps).entities or ()
    assert len(kept) + len(overlaps) == len(entities)
    assert all(one.end <= other.start for one, other in itertools.pairwise(sorted(kept)))
    for overlap in overlaps:
        assert overlap.kept in kept and overlap.other not in kept
        assert overlap.kept.start < overlap.other.end and overlap.other.start < overlap.kept.end
        own = [one for one in kept if one.start < overlap.other.end and overlap.other.start < one.end]
        assert overlap.kept == min(own, key=lambda one: (one.start - one.end, one.start))


def test_the_longest_entity_stays_and_of_equals_the_first():
    document = _document((0, 4, "A"), (0, 2, "B"), (3, 6, "A"), (6, 8, "B"), (7, 8, "A"), (6, 8, "C"))
    kept = without(document, find_overlaps(document)).entities
    assert kept == (Entity(0, 4, "A"), Entity(6, 8, "B"))


def test_touching_entities_do_not_overlap():
    assert find_overlaps(_document((0, 2, "A"), (2, 4, "A"), (4, 5, "B"))) == []


def test_many_entities_are_looked_through_at_once():
    document = _document(*((place, place + 2, "A") for place in range(20_000)), text="甲" * 20_001)
    assert len(find_overlaps(document)) == 10_000


def test_the_fault_of_an_overlap_shows_both_and_names_two_ways_out():
    (overlap,) = find_overlaps(_document((0, 4, "A"), (1, 3, "B"), line=9))
    fault = overlap_fault(overlap)
    assert fault.place.line == 9 and "B 乙丙" in fault.value and "A 甲乙丙丁" in fault.value
    assert "ner.head: global_pointer" in fault.advice and "ner.overlaps: longest" in fault.advice


def test_a_field_about_a_type_that_no_document_has_stops_a_run_before_it_begins():
    review = {"fields": [{"name": "甲方", "labels": ["甲芳"]}]}
    config = RunConfig.model_validate({"task": "ner", "output_dir": "run", "review": review})
    document = Document(Place("x", 1), "甲公司", (Entity(0, 3, "甲方"),))
    with pytest.raises(ConfigError, match=r"review\.fields '甲方'\n  is about '甲芳', which is none of 甲方"):
        Task(config).settle_labels([document])
