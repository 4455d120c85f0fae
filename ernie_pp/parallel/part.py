"""The layers one process computes in a row: all of the model, or a pipeline stage's share of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
import paddle
from paddle import nn
from paddle.distributed.fleet.utils import recompute

from ernie_pp.data.batches import MicroBatch
from ernie_pp.models.dropout import DropoutKey, DropoutState

Keys = tuple[DropoutKey, ...]
# Ids and token types, int64 [rows, length], before the embeddings; hidden values [rows, length, width] and the mask of
# the padding between layers; logits alone after the head.
Values = paddle.Tensor | tuple[paddle.Tensor, paddle.Tensor]


class Autocast(Protocol):
    """The number types of the forward pass."""

    def autocast(self) -> AbstractContextManager[Any]: ...


class Part(nn.Layer):
    """Layers on end. In training each call takes the dropout keys of the next micro-batch."""

    def __init__(
        self, layers: Sequence[nn.Layer], *, state: DropoutState, casting: Autocast, recomputed: Collection[int] = ()
    ) -> None:
        """`recomputed` are indexes in `layers` whose insides are computed again in the backward pass."""
        super().__init__()
        self.layers = nn.LayerList(list(layers))
        self.state, self.casting = state, casting
        self.recomputed = frozenset(recomputed)
        self._keys: list[Keys] = []
        self._next = 0

    def begin(self, keys: Sequence[Keys]) -> None:
        """Start a round over the micro-batches with these keys."""
        self._keys, self._next = list(keys), 0

    def forward(self, values: Values) -> Values:
        """What the last layer makes of the first one's inputs."""
        keys = self._next_keys() if self.training else ()
        with self.casting.autocast():
            for index, layer in enumerate(self.layers):
                if self.training and index in self.recomputed:
                    values = self._recompute(layer, values, keys)
                else:
                    values = self._run(layer, values, keys)
        return _handed_on(values)

    def _next_keys(self) -> Keys:
        keys = self._keys[self._next]
        self._next += 1
        return keys

    def _run(self, layer: nn.Layer, values: Values, keys: Keys) -> Values:
        if keys:
            self.state.keys = keys
        return layer(values)

    def _recompute(self, block: nn.Layer, values: Values, keys: Keys) -> Values:
        """Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost": keep the input, compute the rest again."""
        hidden, mask = values

        def run(again: paddle.Tensor) -> paddle.Tensor:
            # When this runs again other micro-batches have gone by: the masks must be those of this one.
            return self._run(block, (again, mask), keys)[0]

        return recompute(run, hidden, preserve_rng_state=False), mask


def _handed_on(values: Values) -> Values:
    """What goes to the next part: Fleet frees it once it is sent, and the mask is still needed to recompute blocks."""
    if isinstance(values, paddle.Tensor):
        return values
    hidden, mask = values
    copy = mask.clone()
    copy.stop_gradient = True
    return hidden, copy


def input_tensors(batch: MicroBatch, *, num_passes: int = 1) -> tuple[paddle.Tensor, paddle.Tensor]:
    """Ids and token types on the device, int64 [passes x rows, length]; the rows of all passes stand on end."""
    ids, types = batch.input_ids, batch.token_type_ids
    if num_passes > 1:
        ids, types = (np.concatenate([values] * num_passes) for values in (ids, types))
    return paddle.to_tensor(ids), paddle.to_tensor(types)
