"""Entities as tokens of rows, and what a head has to learn of them."""

import numpy as np
import pytest

from ernie_pp.data.entities.document import Document, Entity
from ernie_pp.data.rows import Place
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks.ner import features
from ernie_pp.tasks.ner.features import NO_TAG, RowEntity, entities_of_row, inexpressible, span_targets, tag_targets
from ernie_pp.tasks.ner.scheme import TagSet
from ernie_pp.text.new_vocabulary import build_vocabulary
from ernie_pp.text.portable import build_portable
from ernie_pp.text.tokenizer import Tokenizer

TAGS = TagSet(("A", "B"), "bio")


@pytest.fixture(scope="module")
def rows_of():
    tokenizer = Tokenizer(build_portable(build_vocabulary(["甲乙丙丁戊己 iphone iphone"], min_count=1, table="none")))

    def encode(*texts, max_length=64, overlap=0):
        limits = {"max_length": max_length, "overlap": overlap}
        return TokenRows.from_encoded(features.encode(list(texts), None, tokenizer, limits))

    return encode


def _document(text, *entities):
    return Document(Place("x", 1), text, tuple(Entity(*one) for one in entities))


@pytest.mark.parametrize("text", ["甲iphone乙", "甲iphone", "iphone乙", "iphone"])
def test_an_entity_inside_a_token_is_told_wherever_the_token_stands(rows_of, text):
    rows, start = rows_of(text), text.index("iphone")
    cut = [(start, start + 2, "A"), (start + 2, start + 6, "A"), (start + 1, start + 3, "B")]
    document = _document(text, *sorted(cut), (start, start + 6, "B"))
    assert list(entities_of_row(rows, 0, document.entities or ())) == [RowEntity(start + 1, start + 1, 3)]
    assert [entity for _, entity in inexpressible(rows, [document])] == [Entity(*one) for one in sorted(cut)]


def test_an_entity_of_blanks_or_with_a_blank_at_its_edge_is_told(rows_of):
    document = _document("甲 乙 ", (0, 2, "A"), (1, 2, "A"), (2, 3, "B"), (3, 4, "A"))
    lost = [entity for _, entity in inexpressible(rows_of(document.text), [document])]
    assert lost == [Entity(0, 2, "A"), Entity(1, 2, "A"), Entity(3, 4, "A")]


def test_tokens_are_counted_from_the_first_special_one(rows_of):
    (entity,) = entities_of_row(rows_of("甲 iphone乙丙"), 0, [Entity(2, 9, "A")])
    assert entity == RowEntity(first=2, last=3, index=0, is_whole=True)


def test_a_window_tags_its_part_of_an_entity_and_marks_only_a_whole_one(rows_of):
    document = _document("甲乙丙丁戊己", (1, 5, "A"), (5, 6, "B"))
    rows = rows_of(document.text, max_length=5)  # windows of three tokens
    assert rows.lengths.tolist() == [5, 5]
    tags = tag_targets(rows, [document], TAGS)
    names = [[TAGS.names[tag] for tag in row[1:-1]] for row in tags.padded().tolist()]
    assert names == [["O", "B-A", "I-A"], ["B-A", "I-A", "B-B"]]
    assert (tags.padded()[:, [0, -1]] == NO_TAG).all()
    spans = span_targets(rows, [document], TAGS.labels)
    assert spans.values.tolist() == [[1, 3, 3]] and spans.starts.tolist() == [0, 0, 1]
    assert [entity for _, entity in inexpressible(rows, [document])] == [Entity(1, 5, "A")]


def test_every_row_has_targets_of_its_own_document(rows_of):
    documents = [_document("甲乙", (0, 2, "A")), _document(""), _document("丙" * 5, (4, 5, "B"))]
    rows = rows_of(*(one.text for one in documents), max_length=5)
    assert np.asarray(rows.example_index).tolist() == [0, 1, 2, 2]
    tags = tag_targets(rows, documents, TAGS)
    assert tags.starts.tolist() == rows.row_starts.tolist()
    assert tags.padded()[1].tolist() == [NO_TAG] * 5
    spans = span_targets(rows, documents, TAGS.labels)
    assert np.diff(spans.starts).tolist() == [1, 0, 0, 1]
    assert inexpressible(rows, documents) == []


def test_same_places_of_two_types_and_nested_ones_are_all_span_targets(rows_of):
    document = _document("甲乙丙", (0, 3, "A"), (0, 3, "B"), (1, 2, "A"))
    values = span_targets(rows_of(document.text), [document], TAGS.labels).values
    assert sorted(values.tolist()) == [[0, 1, 3], [0, 2, 2], [1, 1, 3]]


def test_overlapping_entities_are_no_tags(rows_of):
    with pytest.raises(ValueError, match="overlaps"):
        tag_targets(rows_of("甲乙丙"), [_document("甲乙丙", (0, 2, "A"), (1, 3, "B"))], TAGS)
