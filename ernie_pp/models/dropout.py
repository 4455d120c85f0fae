"""Dropout whose masks depend on where in the training a layer is computed, not on what was computed before it.

Each layer reseeds at its start from (seed, step, micro-batch, pass, layer). The masks are then the same however the
model is cut into stages and the batch into replicas, and a resumed run needs no stored generator state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import paddle
from paddle.autograd import PyLayer

# Rates are rounded to 1/65536, so that a mask costs two random bytes an element; the scale uses the rounded rate.
_STEPS = 1 << 16


@dataclass(frozen=True)
class DropoutKey:
    """What the masks of a forward pass are drawn from; `pass_index` numbers the passes over one micro-batch."""

    seed: int = 0
    step: int = 0
    micro_batch: int = 0
    pass_index: int = 0

    def plus(self, num_passes: int) -> DropoutKey:
        """The key of a later pass over the same micro-batch, with other masks."""
        return replace(self, pass_index=self.pass_index + num_passes)


@dataclass
class DropoutState:
    """Shared by the layers of a stack: the keys of the passes computed, and whether the CPU's fast operations are used.

    Several passes over one micro-batch (R-Drop) are computed at once, their rows on end: the first key is that of the
    first part of the rows.
    """

    keys: tuple[DropoutKey, ...] = field(default_factory=lambda: (DropoutKey(),))
    fast: bool = False


class MaskSource:
    """The masks of one layer, in the order they are asked for; each key draws those of its own part of the rows."""

    def __init__(self, keys: Sequence[DropoutKey], layer_index: int) -> None:
        self.bits = [np.random.SFC64(_seed_sequence(key, layer_index)) for key in keys]

    def drop(self, tensor: paddle.Tensor, rate: float) -> paddle.Tensor:
        """`tensor` with each element zeroed with probability `rate` and the others scaled up to keep the mean."""
        if rate == 0.0:
            return tensor
        shape = (tensor.shape[0] // len(self.bits), *tensor.shape[1:])
        drawn = [draw_kept(bits, shape, rate) for bits in self.bits]
        kept = drawn[0][0] if len(drawn) == 1 else np.concatenate([part for part, _ in drawn])
        return _Drop.apply(tensor, paddle.to_tensor(kept), drawn[0][1])


def drop_in_layer(tensor: paddle.Tensor, rate: float, state: DropoutState, layer_index: int) -> paddle.Tensor:
    """Dropout of a layer that drops once, by the way the stack is computed in."""
    if state.fast:
        return MaskSource(state.keys, layer_index).drop(tensor, rate)
    seed_paddle(state.keys, layer_index)
    return paddle.nn.functional.dropout(tensor, rate)


def draw_kept(bits: np.random.SFC64, shape: tuple[int, ...], rate: float) -> tuple[np.ndarray, float]:
    """Which elements stay (False with probability `rate`), and by what they are multiplied to keep the mean."""
    dropped = round(rate * _STEPS)
    if dropped >= _STEPS:
        return np.zeros(shape, dtype=bool), 0.0
    count = int(np.prod(shape))
    numbers = bits.random_raw(-(-count // 4)).view(np.uint16)[:count]
    return (numbers >= dropped).reshape(shape), _STEPS / (_STEPS - dropped)


class _Drop(PyLayer):
    """Multiplies by 0 or `scale`; remembers one byte an element, where a plain product would remember eight."""

    @staticmethod
    def forward(ctx: Any, tensor: paddle.Tensor, kept: paddle.Tensor, scale: float) -> paddle.Tensor:
        ctx.save_for_backward(kept)
        ctx.scale = scale
        return tensor * (kept.astype(tensor.dtype) * scale)

    @staticmethod
    def backward(ctx: Any, gradient: paddle.Tensor) -> tuple[paddle.Tensor, None]:  # type: ignore[override]
        (kept,) = ctx.saved_tensor()
        return gradient * (kept.astype(gradient.dtype) * ctx.scale), None


def seed_paddle(keys: Sequence[DropoutKey], layer_index: int) -> None:
    """Set Paddle's own generator for a layer that drops by Paddle's operations.

    The first key is enough: the rows of every pass take their own numbers from the one stream.
    """
    paddle.seed(int(_seed_sequence(keys[0], layer_index).generate_state(1, np.uint32)[0]))


def _seed_sequence(key: DropoutKey, layer_index: int) -> np.random.SeedSequence:
    return np.random.SeedSequence((key.seed, key.step, key.micro_batch, key.pass_index, layer_index))
