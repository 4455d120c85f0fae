"""What is exported: a model that takes ids and token types alone, with free batch size and length."""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn
from paddle.static import InputSpec

from ernie_pp.models.heads import MASKED

INPUTS = ("input_ids", "token_type_ids")


class InferenceModel(nn.Layer):
    """An encoder and its head that take ids and token types, and make positions and mask from them.

    Both are made without operators that build a tensor from another one's shape: Paddle Lite has none of those.
    """

    def __init__(self, encoder: Any, head: Any) -> None:
        """A PaddleNLP ErnieModel, and one of our heads."""
        super().__init__()
        self.encoder, self.head = encoder, head
        config = encoder.config
        self.pad_token_id, self.task_id = config.pad_token_id, config.task_id if config.use_task_id else None

    def forward(self, input_ids: paddle.Tensor, token_type_ids: paddle.Tensor) -> paddle.Tensor:
        """The head's output [rows, ...] of two int64 tensors [rows, length]."""
        zeros = input_ids * 0
        distance = (input_ids - self.pad_token_id).astype("float32")
        is_padding = 1.0 - paddle.clip(distance * distance, 0.0, 1.0)  # ids are whole: at least 1 apart
        mask = paddle.unsqueeze(is_padding * MASKED, [1, 2])
        hidden, pooled = self.encoder(
            input_ids,
            token_type_ids=token_type_ids,
            position_ids=paddle.cumsum(zeros + 1, axis=1) - 1,
            attention_mask=mask,
            task_type_ids=None if self.task_id is None else zeros + self.task_id,
        )[:2]
        return self.head.infer(hidden, pooled, mask)


def input_specs() -> list[InputSpec]:
    """The inputs of every program: int64 [rows, length], both free."""
    return [InputSpec([None, None], "int64", name) for name in INPUTS]
