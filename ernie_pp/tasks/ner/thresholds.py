"""Thresholds of global_pointer's types, tuned on documents whose entities are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ernie_pp.data.split import Split
from ernie_pp.tasks.ner.decode import model_mentions
from ernie_pp.tasks.ner.settings import DecodeSettings
from ernie_pp.tasks.ner.spans import LEAST_THRESHOLD, RowSpans
from ernie_pp.tasks.thresholds import best_threshold


def tune_thresholds(answers: Sequence[RowSpans], split: Split, plain: DecodeSettings) -> tuple[float, ...]:
    """One a type: that with the highest F1 of the type's spans; `plain` lets every candidate through."""
    scores: dict[str, list[float]] = {label: [] for label in plain.labels}
    hits: dict[str, list[bool]] = {label: [] for label in plain.labels}
    num_true = dict.fromkeys(plain.labels, 0)
    texts = [document.text for document in split.examples]
    for document, mentions in zip(split.examples, model_mentions(answers, split.rows, texts, plain), strict=True):
        true = {(entity.start, entity.end, entity.label) for entity in document.entities or ()}
        for _, _, label in true:
            num_true[label] += 1
        for one in mentions:
            scores[one.label].append(one.score)
            hits[one.label].append((one.start, one.end, one.label) in true)
    best = (
        best_threshold(np.array(scores[label]), np.array(hits[label], dtype=bool), num_true=num_true[label])
        for label in plain.labels
    )
    return tuple(max(threshold, LEAST_THRESHOLD) for threshold in best)
