"""The head that points at the answer to a question."""

from __future__ import annotations

import paddle

from ernie_pp.models.entity_heads import HeadInput, TokenHead
from ernie_pp.models.heads import MASKED

# Columns of the first and the last token of an answer; those of yes and no follow.
NUM_BORDERS = 2


class AnswerHead(TokenHead):
    """Scores of every token as the first and as the last of an answer (Devlin et al. 2019, "BERT", section 4.2).

    The first token, [CLS], stands for "no answer in this window". Two outputs more say yes and no there; the loss and
    decoding read them as two places beside the tokens.
    """

    def forward(self, inputs: HeadInput) -> paddle.Tensor:
        """[rows, length, outputs]; padding is far below 0 in the columns of the borders."""
        _, mask = inputs
        return _without_padding(super().forward(inputs), mask)

    def infer(self, hidden: paddle.Tensor, pooled: paddle.Tensor, mask: paddle.Tensor) -> paddle.Tensor:
        """The scores, in an exported program."""
        return _without_padding(super().infer(hidden, pooled, mask), mask)


def _without_padding(scores: paddle.Tensor, mask: paddle.Tensor) -> paddle.Tensor:
    """MASKED exactly where there is padding: a sum with so large a number would keep three digits of the score."""
    scores = scores.astype("float32")
    is_padding = paddle.clip(mask.astype("float32") / MASKED, 0.0, 1.0).squeeze([1, 2]).unsqueeze(-1)
    borders, others = scores[:, :, :NUM_BORDERS], scores[:, :, NUM_BORDERS:]
    borders = borders * (1.0 - is_padding) + is_padding * MASKED
    return borders if scores.shape[-1] == NUM_BORDERS else paddle.concat([borders, others], axis=-1)
