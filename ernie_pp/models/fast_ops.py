"""The training forward of ERNIE's layers with the operations that are slow on Paddle's CPU kernels done otherwise.

The mathematics and the parameters are those of PaddleNLP's layers. Measured on [16, 110, 256] in float32, one thread:

    bias gradient        8.4 ms as a sum over rows          0.1 ms as a matrix product with ones
    embedding gradient    38 ms as Paddle's scatter         1.6 ms as zeros + index_add_
    dropout of scores    8.1 ms by Paddle's generator       2.7 ms from SFC64 bits (dropout.py)
    adding the mask      4.6 ms broadcast                   0.5 ms expanded first, nothing without padding
    norm and gradient    4.7 ms                             2.7 ms with its row and column sums as matrix products
"""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle.autograd import PyLayer

from ernie_pp.models.dropout import MaskSource


def look_up(ids: paddle.Tensor, table: Any) -> paddle.Tensor:
    """Rows of an nn.Embedding's table; those of the padding id are zero and get no gradient."""
    padding = table._padding_idx
    return _LookUp.apply(ids, table.weight, -1 if padding is None else padding)


def run_block(block: Any, hidden: paddle.Tensor, mask: paddle.Tensor | None, masks: MaskSource) -> paddle.Tensor:
    """A post-norm nn.TransformerEncoderLayer in training mode: `hidden` [rows, length, width]."""
    attended = _attend(block.self_attn, hidden, mask, masks)
    hidden = normalize(hidden + masks.drop(attended, block.dropout1.p), block.norm1)
    inner = _linear(hidden, block.linear1)
    inner = _linear(masks.drop(block.activation(inner), block.dropout.p), block.linear2)
    return normalize(hidden + masks.drop(inner, block.dropout2.p), block.norm2)


def normalize(hidden: paddle.Tensor, norm: Any) -> paddle.Tensor:
    """An nn.LayerNorm over the last axis."""
    return _LayerNorm.apply(hidden, norm.weight, norm.bias, norm._epsilon)


def expand_mask(mask: paddle.Tensor, num_heads: int) -> paddle.Tensor | None:
    """A [rows, 1, 1, length] mask as [rows, heads, length, length]; None where it masks nothing."""
    values = mask.numpy()
    if not values.any():
        return None
    rows, _, _, length = values.shape
    return paddle.to_tensor(np.ascontiguousarray(np.broadcast_to(values, (rows, num_heads, length, length))))


def _attend(attention: Any, hidden: paddle.Tensor, mask: paddle.Tensor | None, masks: MaskSource) -> paddle.Tensor:
    rows, length, width = hidden.shape

    def heads(projection: Any) -> paddle.Tensor:
        split = [rows, length, attention.num_heads, attention.head_dim]
        return _linear(hidden, projection).reshape(split).transpose([0, 2, 1, 3])

    query, key, value = heads(attention.q_proj), heads(attention.k_proj), heads(attention.v_proj)
    scores = paddle.matmul(query * attention.head_dim**-0.5, key, transpose_y=True)  # [rows, heads, length, length]
    probabilities = F.softmax(scores if mask is None else scores + mask)
    mixed = paddle.matmul(masks.drop(probabilities, attention.dropout), value)
    return _linear(mixed.transpose([0, 2, 1, 3]).reshape([rows, length, width]), attention.out_proj)


def _linear(hidden: paddle.Tensor, layer: Any) -> paddle.Tensor:
    return _Linear.apply(hidden, layer.weight, layer.bias)


class _Linear(PyLayer):
    """A linear layer; the bias gradient is summed over rows by a matrix product."""

    @staticmethod
    def forward(ctx: Any, hidden: paddle.Tensor, weight: paddle.Tensor, bias: paddle.Tensor) -> paddle.Tensor:
        # One PyLayer for product and bias: Paddle keeps a PyLayer's inputs, and the product alone is of no use.
        ctx.save_for_backward(hidden, weight)
        return F.linear(hidden, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: paddle.Tensor) -> tuple[paddle.Tensor, ...]:  # type: ignore[override]
        hidden, weight = ctx.saved_tensor()
        upper = gradient.reshape([-1, gradient.shape[-1]])
        lower = paddle.matmul(upper, weight, transpose_y=True).reshape(hidden.shape)
        rows = hidden.reshape([-1, hidden.shape[-1]])
        return lower, paddle.matmul(rows, upper, transpose_x=True), _sum_rows(upper)


class _LookUp(PyLayer):
    """Rows of a table by id; the gradient is added into zeros of the table's shape."""

    @staticmethod
    def forward(ctx: Any, ids: paddle.Tensor, weight: paddle.Tensor, padding: int) -> paddle.Tensor:
        ctx.save_for_backward(ids)
        ctx.shape, ctx.padding = weight.shape, padding
        return F.embedding(ids, weight, padding_idx=None if padding < 0 else padding)

    @staticmethod
    def backward(ctx: Any, gradient: paddle.Tensor) -> tuple[None, paddle.Tensor]:  # type: ignore[override]
        (ids,) = ctx.saved_tensor()
        total = paddle.zeros(ctx.shape, dtype=gradient.dtype)
        paddle.index_add_(total, ids.reshape([-1]), 0, gradient.reshape([-1, ctx.shape[1]]))
        if ctx.padding >= 0:
            total[ctx.padding] = 0.0
        return None, total


class _LayerNorm(PyLayer):
    """Layer normalization over the last axis."""

    @staticmethod
    def forward(
        ctx: Any, hidden: paddle.Tensor, weight: paddle.Tensor, bias: paddle.Tensor, epsilon: float
    ) -> paddle.Tensor:
        ctx.save_for_backward(hidden, weight)
        ctx.epsilon = epsilon
        return F.layer_norm(hidden, hidden.shape[-1:], weight, bias, epsilon)

    @staticmethod
    def backward(ctx: Any, gradient: paddle.Tensor) -> tuple[paddle.Tensor, ...]:  # type: ignore[override]
        hidden, weight = ctx.saved_tensor()
        width = hidden.shape[-1]
        rows, upper = hidden.reshape([-1, width]), gradient.reshape([-1, width])
        mean_of = paddle.full([width, 1], 1.0 / width, dtype=rows.dtype)  # as a product: the mean of each row
        centered = rows - paddle.matmul(rows, mean_of)
        sharpness = paddle.rsqrt(paddle.matmul(centered * centered, mean_of) + ctx.epsilon)  # [rows, 1]
        normal, scaled = centered * sharpness, upper * weight
        along = paddle.matmul(scaled * normal, mean_of)
        lower = (scaled - paddle.matmul(scaled, mean_of) - normal * along) * sharpness
        return lower.reshape(gradient.shape), _sum_rows(upper * normal), _sum_rows(upper)


def _sum_rows(rows: paddle.Tensor) -> paddle.Tensor:
    return paddle.matmul(paddle.ones([1, rows.shape[0]], dtype=rows.dtype), rows).reshape([-1])
