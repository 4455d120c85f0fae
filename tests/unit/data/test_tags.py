"""Tag schemes against seqeval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.scheme import IOB2, IOBES, Entities

from ernie_pp.data.entities.tags import legal_ends, legal_starts, legal_transitions, spans_of, tag_names, tags_of

SCHEMES = {"bio": IOB2, "bioes": IOBES}


@st.composite
def spans_and_length(draw):
    spans, place = [], 0
    for gap, length, label in draw(
        st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5), st.sampled_from(["PER.NAM", "a-b"])))
    ):
        spans.append((place + gap, place + gap + length, label))
        place += gap + length
    return spans, place + draw(st.integers(0, 3))


@pytest.mark.parametrize("scheme", list(SCHEMES))
@given(drawn=spans_and_length())
def test_spans_come_back_and_are_those_of_seqeval(scheme, drawn):
    spans, length = drawn
    tags = tags_of(spans, length, scheme)
    assert spans_of(tags) == spans
    if tags:
        found = [(e.start, e.end, e.tag) for e in Entities([tags], SCHEMES[scheme]).entities[0]]
        assert found == spans


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_every_legal_path_is_one_of_spans_and_no_other_is(scheme):
    names = tag_names(["A", "B"], scheme)
    assert names[0] == "O" and len(set(names)) == len(names)
    starts, steps, ends = legal_starts(names), legal_transitions(names), legal_ends(names)
    for first in range(len(names)):
        for second in range(len(names)):
            tags = [names[first], names[second]]
            is_legal = bool(starts[first] and steps[first, second] and ends[second])
            assert is_legal == (tags_of(spans_of(tags), 2, scheme) == tags), tags


def test_a_tag_without_a_beginning_begins_an_entity():
    assert spans_of(["O", "I-A", "I-A", "I-B", "B-B", "O", "E-A"]) == [
        (1, 3, "A"),
        (3, 4, "B"),
        (4, 5, "B"),
        (6, 7, "A"),
    ]
    assert spans_of(["B-A", "M-A", "E-A", "S-A", "S-A"]) == [(0, 3, "A"), (3, 4, "A"), (4, 5, "A")]


@pytest.mark.parametrize("spans", [[(0, 2, "A"), (1, 3, "B")], [(-1, 1, "A")], [(2, 5, "A")], [(1, 1, "A")]])
def test_spans_that_overlap_or_leave_the_text_are_refused(spans):
    with pytest.raises(ValueError, match="overlaps another, or leaves"):
        tags_of(spans, 4, "bio")


def test_legality_is_a_table_of_truth_values():
    names = tag_names(["A"], "bioes")
    assert legal_transitions(names).dtype == np.bool_ and legal_transitions(names).shape == (5, 5)
