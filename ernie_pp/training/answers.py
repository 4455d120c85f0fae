"""The model's answers on a whole split, in the order of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ernie_pp.data.batches import build_micro_batch, order_for_evaluation
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import NumericError
from ernie_pp.machine import held_signals
from ernie_pp.parallel.engine import ForwardPass
from ernie_pp.progress import track

# (float32 logits [rows, ...] of a micro-batch, its rows) -> what is kept of each row.
Condense = Callable[[np.ndarray, TokenRows], Sequence[Any]]


@dataclass(frozen=True)
class Pass:
    """How a split is gone through.

    `condense` keeps of a micro-batch's logits what the task decides by, so that memory does not grow with them.
    """

    max_tokens: int  # of a micro-batch, padding counted
    pad_id: int
    title: str
    condense: Condense
    between: Callable[[], None] = lambda: None  # called between two micro-batches


def compute_answers(model: ForwardPass, rows: TokenRows, how: Pass) -> list[Any]:
    """One answer a row, whatever order and size the micro-batches have; NumericError where a logit is not finite."""
    batches = order_for_evaluation(rows.lengths, max_tokens=how.max_tokens)
    answers: list[Any] = [None] * len(rows)
    bad: list[int] = []
    with track(how.title, len(rows.lengths), unit="rows") as tracker:
        micro_batches = (build_micro_batch(rows, batch, pad_id=how.pad_id) for batch in batches)
        passes = model.forward(micro_batches)
        for indexes in batches:
            with held_signals():
                logits = next(passes)
            bad += _not_finite(logits, indexes)
            if not bad:
                for index, answer in zip(indexes, how.condense(logits, rows.select(indexes)), strict=True):
                    answers[index] = answer
            tracker.advance(len(indexes))
            how.between()
    if bad:
        what = f"{len(bad)} of {len(rows)} rows get an answer that is not finite, row {min(bad)} first"
        raise NumericError(how.title, what, "Lower train.learning_rate, or train in fp32.")
    return answers


def _not_finite(logits: np.ndarray, indexes: np.ndarray) -> list[int]:
    is_finite = np.isfinite(logits.reshape(len(logits), -1)).all(axis=1)
    return [] if is_finite.all() else [int(index) for index in indexes[~is_finite]]
