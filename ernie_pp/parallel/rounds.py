"""A round: every micro-batch of a replica's share of a step goes forward and backward once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import paddle

from ernie_pp.data.batches import MicroBatch
from ernie_pp.models.dropout import DropoutKey


@dataclass(frozen=True)
class RoundItem:
    """One micro-batch of a round, and a dropout key for each pass over it."""

    batch: MicroBatch
    keys: tuple[DropoutKey, ...]


# Logits [passes x rows, ...] and the micro-batch -> its part of the step's loss, a scalar.
LossOf = Callable[[paddle.Tensor, MicroBatch], paddle.Tensor]


class Rounds(Protocol):
    """How this process takes part in rounds; all processes of a replica are given the same items."""

    def accumulate(self, items: Sequence[RoundItem], loss_of: LossOf, *, scale: float) -> np.ndarray:
        """Add the gradient of `scale` times each loss to the parameters here.

        Returns the losses, float64 [len(items)]; zeros where another process has the last layer.
        """
        ...

    def forward(self, micro_batches: Iterable[MicroBatch]) -> Iterator[np.ndarray]:
        """Float32 logits [rows, ...] of each micro-batch, in turn, where the last layer is; nothing elsewhere."""
        ...
