"""The model's answers on a whole split, in the order of its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ernie_pp.data.batches import build_micro_batch, order_for_evaluation
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import NumericError
from ernie_pp.machine import held_signals
from ernie_pp.parallel.engine import ForwardPass
from ernie_pp.progress import track


@dataclass(frozen=True)
class Pass:
    """How a split is gone through: most tokens of a micro-batch, padding, a name, and what is called between two."""

    max_tokens: int
    pad_id: int
    title: str
    between: Callable[[], None] = lambda: None


def compute_logits(model: ForwardPass, rows: TokenRows, how: Pass) -> np.ndarray:
    """float32 [rows, ...] from the last layer, whatever order and size the micro-batches have; all finite."""
    batches = order_for_evaluation(rows.lengths, max_tokens=how.max_tokens)
    parts: list[np.ndarray] = []
    with track(how.title, len(rows.lengths), unit="rows") as tracker:
        micro_batches = (build_micro_batch(rows, batch, pad_id=how.pad_id) for batch in batches)
        answers = model.forward(micro_batches)
        for indexes in batches:
            with held_signals():
                parts.append(next(answers))
            tracker.advance(len(indexes))
            how.between()
    order = np.concatenate(batches)
    logits = np.concatenate(parts)
    in_order = np.empty_like(logits)
    in_order[order] = logits
    bad = np.flatnonzero(~np.isfinite(in_order.reshape(len(in_order), -1)).all(axis=1))
    if len(bad):
        what = f"{len(bad)} of {len(in_order)} rows get an answer that is not finite, row {bad[0]} first"
        raise NumericError(how.title, what, "Lower train.learning_rate, or train in fp32.")
    return in_order
