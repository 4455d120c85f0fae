"""Tokens of texts, and what a head has to learn of their entities. numpy only: training and serving encode here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ernie_pp.data.entities.document import Document, Entity
from ernie_pp.data.row_targets import RowTargets
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks.ner.scheme import TagSet
from ernie_pp.text.encoding import EncodedRows
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.text.truncation import TooLong
from ernie_pp.text.window_rows import Span, encode_windows

ANSWERS_IN_PAIR = False
# Targets of [CLS], [SEP] and padding; of no span.
NO_TAG, NO_SPAN = -100, -1


@dataclass(frozen=True)
class RowEntity:
    """Tokens of an entity in a row, `last` inclusive; `index` is its place in its document.

    `is_whole` is False where the window's edge cuts it: a part of it is seen.
    """

    first: int
    last: int
    index: int
    is_whole: bool = True


def encode(
    texts: Sequence[str],
    pairs: Sequence[str] | None,
    tokenizer: Tokenizer,
    text: Mapping[str, Any],
    keep: Sequence[Sequence[Span]] | None = None,
) -> EncodedRows:
    """Rows of tokens with their places; a text over `text["max_length"]` tokens has several, which overlap."""
    assert pairs is None, "entities are of single texts"
    return encode_windows(texts, tokenizer, max_length=text["max_length"], overlap=text["overlap"], keep=keep)


def too_long(
    texts: Sequence[str], pairs: Sequence[str] | None, tokenizer: Tokenizer, text: Mapping[str, Any]
) -> list[TooLong]:
    """None: a long text is read in windows."""
    return []


def entities_of_row(rows: TokenRows, row: int, entities: Sequence[Entity]) -> Iterator[RowEntity]:
    """Each entity that a row shows, or a part of; not those that begin or end inside a token."""
    assert rows.offsets is not None, "entities are encoded with offsets"
    begin, end = int(rows.row_starts[row]), int(rows.row_starts[row + 1])
    starts, ends = rows.offsets[begin + 1 : end - 1, 0], rows.offsets[begin + 1 : end - 1, 1]
    if not len(starts):
        return
    left, right = int(starts[0]), int(ends[-1])
    for index, entity in enumerate(entities):
        if entity.end <= left or entity.start >= right:
            continue
        start, end = max(entity.start, left), min(entity.end, right)
        # One that begins inside the last token has no first token: it is `len(starts)`, and above `last`.
        first, last = int(np.searchsorted(starts, start)), int(np.searchsorted(ends, end))
        if first <= last and starts[first] == start and ends[last] == end:
            is_whole = entity.start >= left and entity.end <= right
            yield RowEntity(first + 1, last + 1, index, is_whole)


def tag_targets(rows: TokenRows, documents: Sequence[Document], tags: TagSet) -> RowTargets:
    """One tag a token; NO_TAG for [CLS] and [SEP]. The seen part of an entity that an edge cuts is tagged as one."""
    values = np.full(len(rows.ids), NO_TAG, dtype=np.int64)
    for row, document in _documents_of_rows(rows, documents):
        entities = document.entities or ()
        # Among the tokens between [CLS] and [SEP], and the last one exclusive.
        found = entities_of_row(rows, row, entities)
        spans = [(one.first - 1, one.last, entities[one.index].label) for one in found]
        begin, end = int(rows.row_starts[row]) + 1, int(rows.row_starts[row + 1]) - 1
        values[begin:end] = tags.encode(sorted(spans), end - begin)
    return RowTargets(values, rows.row_starts, NO_TAG)


def span_targets(rows: TokenRows, documents: Sequence[Document], labels: Sequence[str]) -> RowTargets:
    """(type, first token, last token) of every entity that stands whole in a row."""
    kinds = {label: kind for kind, label in enumerate(labels)}
    values: list[tuple[int, int, int]] = []
    starts = [0]
    for row, document in _documents_of_rows(rows, documents):
        entities = document.entities or ()
        found = entities_of_row(rows, row, entities)
        values += [(kinds[entities[one.index].label], one.first, one.last) for one in found if one.is_whole]
        starts.append(len(values))
    return RowTargets(np.array(values, np.int64).reshape(-1, 3), np.array(starts, np.int64), NO_SPAN)


def inexpressible(rows: TokenRows, documents: Sequence[Document]) -> list[tuple[Document, Entity]]:
    """The entities that stand whole in no row: longer than a window, across windows' borders, or inside a token."""
    found: list[set[int]] = [set() for _ in documents]
    for row in range(len(rows)):
        number = _example_of(rows, row)
        shown = entities_of_row(rows, row, documents[number].entities or ())
        found[number].update(one.index for one in shown if one.is_whole)
    return [
        (document, entity)
        for document, kept in zip(documents, found, strict=True)
        for index, entity in enumerate(document.entities or ())
        if index not in kept
    ]


def _documents_of_rows(rows: TokenRows, documents: Sequence[Document]) -> Iterator[tuple[int, Document]]:
    for row in range(len(rows)):
        yield row, documents[_example_of(rows, row)]


def _example_of(rows: TokenRows, row: int) -> int:
    return row if rows.example_index is None else int(rows.example_index[row])
