"""The loss of the head that points at answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import paddle
import paddle.nn.functional as F

from ernie_pp.models.answer_head import NUM_BORDERS
from ernie_pp.models.losses import log_softmax


@dataclass(frozen=True)
class AnswerLoss:
    """Mean of the cross entropies of the first and the last token of each window's answer (Devlin et al. 2019).

    The places are the tokens, [CLS] for "no answer here", and yes and no behind the last token where those are
    answers: all kinds of answers compete for one probability. A step is divided by its rows.
    """

    def sum(self, logits: paddle.Tensor, targets: paddle.Tensor) -> paddle.Tensor:
        """Scores [rows, length, outputs]; targets int64 [rows, 2]: first and last token, -1 for yes, -2 for no."""
        with paddle.amp.auto_cast(enable=False):
            logits = logits.astype("float32")
            length, others = logits.shape[1], logits[:, 0, NUM_BORDERS:]
            places = paddle.where(targets >= 0, targets, length - 1 - targets)
            terms = [_cross_entropy(logits[:, :, border], others, places[:, border]) for border in range(NUM_BORDERS)]
            return 0.5 * (terms[0] + terms[1])

    def weight(self, targets: np.ndarray) -> float:
        """The number of rows."""
        return float(len(targets))


def _cross_entropy(scores: paddle.Tensor, others: paddle.Tensor, places: paddle.Tensor) -> paddle.Tensor:
    """Summed over rows; `scores` [rows, length] and `others` [rows, yes and no or nothing] are one distribution."""
    both = paddle.concat([scores, others], axis=1) if others.shape[1] else scores
    return -(log_softmax(both) * F.one_hot(places, both.shape[1])).sum()
