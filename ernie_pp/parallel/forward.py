"""The forward pass of one process: all that evaluation needs of a model, and a part of its training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import paddle

from ernie_pp.data.batches import MicroBatch
from ernie_pp.models.stack import ErnieStack


class Autocast(Protocol):
    """The number types of the forward pass."""

    def autocast(self) -> AbstractContextManager[Any]: ...


@dataclass(frozen=True)
class SingleProcessForward:
    """Computes the whole stack in this process."""

    stack: ErnieStack
    casting: Autocast

    def forward(self, micro_batches: Iterable[MicroBatch]) -> Iterator[np.ndarray]:
        """Float32 logits [rows, labels] of each micro-batch as it is asked for."""
        for batch in micro_batches:
            self.stack.eval()
            with paddle.no_grad(), self.casting.autocast():
                logits = self.stack(*input_tensors(batch))
            yield logits.astype("float32").numpy()


def input_tensors(batch: MicroBatch) -> tuple[paddle.Tensor, paddle.Tensor]:
    """Ids and token types on the device, int64 [rows, length]."""
    return paddle.to_tensor(batch.input_ids), paddle.to_tensor(batch.token_type_ids)
