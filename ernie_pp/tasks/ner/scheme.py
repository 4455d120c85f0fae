"""Tags of a head by their numbers: which may follow which, and which spans they mark. numpy only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ernie_pp.data.entities.tags import (
    Scheme,
    legal_ends,
    legal_starts,
    legal_transitions,
    spans_of,
    tag_names,
    tags_of,
)
from ernie_pp.tasks.ner.chain import FORBIDDEN, Chain, best_tags, tag_probabilities
from ernie_pp.tasks.ner.spans import RowSpans, row_spans


@dataclass(frozen=True)
class TagSet:
    """The tags of some entity types, in the order of a token head's outputs."""

    labels: tuple[str, ...]
    scheme: Scheme

    @property
    def names(self) -> tuple[str, ...]:
        """Every tag: O, then those of each type."""
        return tuple(tag_names(self.labels, self.scheme))

    @property
    def rules(self) -> Chain:
        """What the scheme forbids, as scores to add."""
        return _rules(self.names)

    def encode(self, spans: Sequence[tuple[int, int, str]], length: int) -> np.ndarray:
        """int64 [length]: tags of a row of tokens by (first, last exclusive, label); ValueError where spans overlap."""
        numbers = {name: number for number, name in enumerate(self.names)}
        return np.array([numbers[tag] for tag in tags_of(spans, length, self.scheme)], dtype=np.int64)

    def decode(self, emissions: np.ndarray, lengths: np.ndarray, chain: Chain | None) -> list[RowSpans]:
        """The spans of the best legal tags of each row; emissions [rows, length, tags] with [CLS] and [SEP].

        A span's score is the smallest probability that one of its tokens has its tag: it is as sure as its weakest
        token. `chain` None: nothing is known of which tag follows which, but for the scheme.
        """
        inner, counts = emissions[:, 1:], np.maximum(lengths - 2, 0)
        whole = self.rules if chain is None else self.rules.plus(chain)
        tags = best_tags(inner, counts, whole)
        chosen = tag_probabilities(inner, counts, whole)
        sure = np.take_along_axis(chosen, tags[:, :, None], axis=2)[:, :, 0]  # [rows, length]
        rows = zip(tags, sure, counts.tolist(), strict=True)
        return [self._spans(row[:count], scores[:count]) for row, scores, count in rows]

    def _spans(self, tags: np.ndarray, sure: np.ndarray) -> RowSpans:
        if not tags.any():
            return row_spans([])
        names, kinds = self.names, {label: kind for kind, label in enumerate(self.labels)}
        found = spans_of([names[tag] for tag in tags.tolist()])
        # [CLS] is token 0 of a row, and what a span counts begins behind it.
        return row_spans([(first + 1, end, kinds[label], float(sure[first:end].min())) for first, end, label in found])


@lru_cache(maxsize=16)
def _rules(names: tuple[str, ...]) -> Chain:
    tags = list(names)
    return Chain(
        *(np.where(legal, 0.0, FORBIDDEN) for legal in (legal_starts(tags), legal_transitions(tags), legal_ends(tags)))
    )
