"""Rounds of a process that holds the whole model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import paddle

from ernie_pp.data.batches import MicroBatch
from ernie_pp.parallel.part import Part, input_tensors
from ernie_pp.parallel.rounds import LossOf, RoundItem
from ernie_pp.parallel.stopwatch import Stopwatch


@dataclass(frozen=True)
class LocalRounds:
    """One micro-batch after the other, forward and at once backward."""

    part: Part
    stopwatch: Stopwatch = field(default_factory=Stopwatch)

    def accumulate(self, items: Sequence[RoundItem], loss_of: LossOf, *, scale: float) -> np.ndarray:
        """Add the gradients; float64 losses of the micro-batches."""
        self.part.train()
        self.part.begin([item.keys for item in items])
        losses = [self._one(item, loss_of, scale) for item in items]
        return paddle.stack(losses).numpy().astype(np.float64) if losses else np.zeros(0)

    def _one(self, item: RoundItem, loss_of: LossOf, scale: float) -> paddle.Tensor:
        with self.stopwatch.computing("forward"):
            logits = self.part(input_tensors(item.batch, num_passes=len(item.keys)))
            loss = loss_of(logits, item.batch)
        with self.stopwatch.computing("backward"):
            (loss * scale if scale != 1.0 else loss).backward()
        return loss.detach()

    def forward(self, micro_batches: Iterable[MicroBatch]) -> Iterator[np.ndarray]:
        """Float32 logits [rows, ...] of each micro-batch as it is asked for."""
        for batch in micro_batches:
            self.part.eval()
            with paddle.no_grad():
                logits = self.part(input_tensors(batch))
            yield logits.astype("float32").numpy()
