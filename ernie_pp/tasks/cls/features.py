"""Tokens of texts and targets of labels. numpy only: training, evaluation, prediction and serving encode here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ernie_pp.data.labels import LabelSet
from ernie_pp.tasks.cls.example import Example
from ernie_pp.text.encoding import EncodedRows
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.text.truncation import TooLong

ANSWERS_IN_PAIR = False


def encode(
    texts: Sequence[str],
    pairs: Sequence[str] | None,
    tokenizer: Tokenizer,
    text: Mapping[str, Any],
) -> EncodedRows:
    """One row of tokens a text (or pair), cut to `text["max_length"]`; `num_cut` says what each lost."""
    return tokenizer.encode_rows(texts, pairs, max_length=text["max_length"], truncate=text["truncate"])


def too_long(
    texts: Sequence[str], pairs: Sequence[str] | None, tokenizer: Tokenizer, text: Mapping[str, Any]
) -> list[TooLong]:
    """The texts (or pairs) over the limit, where nothing may be cut."""
    if text["truncate"] != "error":
        return []
    lengths, limit = tokenizer.count_tokens(texts, pairs), text["max_length"]
    return [TooLong(int(index), int(lengths[index]), limit) for index in np.flatnonzero(lengths > limit)]


def build_targets(examples: Sequence[Example], labels: LabelSet, *, multi_label: bool) -> np.ndarray:
    """int64 [rows] label numbers; for multi-label float32 [rows, labels] of 0 and 1."""
    numbers = [[labels.index_of(label) for label in example.labels or ()] for example in examples]
    if not multi_label:
        return np.array([row[0] for row in numbers], dtype=np.int64)
    targets = np.zeros((len(numbers), len(labels)), dtype=np.float32)
    for row, given in zip(targets, numbers, strict=True):
        row[given] = 1.0
    return targets


def true_labels(targets: np.ndarray, num_labels: int) -> np.ndarray:
    """bool [rows, labels] of either form of targets."""
    if targets.ndim == 2:
        return targets > 0.5
    return np.arange(num_labels) == targets[:, None]
