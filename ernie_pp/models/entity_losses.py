"""Losses of the heads that answer for tokens and pairs of tokens, as sums; what a step is divided by is kept apart.

Everything is computed in float32, also under AMP.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import paddle
import paddle.nn.functional as F

from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.heads import MASKED
from ernie_pp.models.losses import Loss, log_softmax

# The target of a token that counts nothing: [CLS], [SEP], padding.
IGNORED = -100


@dataclass(frozen=True)
class TokenLoss:
    """Cross entropy of every token that has a tag; a step is divided by the number of those."""

    def sum(self, logits: paddle.Tensor, targets: paddle.Tensor) -> paddle.Tensor:
        """Emissions [rows, length, tags], targets int64 [rows, length]."""
        with paddle.amp.auto_cast(enable=False):
            counts = (targets >= 0).astype("float32")
            chosen = F.one_hot(paddle.clip(targets, min=0), logits.shape[-1])
            return -((log_softmax(logits.astype("float32")) * chosen).sum(-1) * counts).sum()

    def weight(self, targets: np.ndarray) -> float:
        """The number of tokens that count."""
        return float((targets >= 0).sum())


@dataclass(frozen=True)
class CrfLoss:
    """Negative log-likelihood of the tags of each row (Lafferty et al. 2001, "Conditional Random Fields").

    The tags of a row stand without a gap from its second token on, after [CLS]. A step is divided by the number of
    tokens, so that long rows count as they do for softmax.
    """

    def sum(self, logits: paddle.Tensor, targets: paddle.Tensor) -> paddle.Tensor:
        """Emissions with start, end and transitions below them, as CrfHead gives; targets int64 [rows, length]."""
        with paddle.amp.auto_cast(enable=False):
            num_tags, logits = logits.shape[-1], logits.astype("float32")
            length = logits.shape[1] - num_tags - 2
            emissions, tags = logits[:, 1:length], targets[:, 1:]
            start, end, transitions = logits[0, length], logits[0, length + 1], logits[0, length + 2 :]
            is_tag = tags >= 0
            chosen = F.one_hot(paddle.clip(tags, min=0), num_tags) * is_tag.astype("float32").unsqueeze(-1)
            ends = chosen - _shifted(chosen, is_tag)  # one 1 a row: the last tag
            path = (emissions * chosen).sum() + (chosen[:, 0] * start).sum() + (ends * end).sum()
            pairs = paddle.matmul(chosen[:, :-1], transitions) * chosen[:, 1:]
            # A text of characters that no token has (U+FFFD) is a row without tags: there is nothing to learn of it.
            has_tags = is_tag[:, 0].astype("float32")
            total = _log_partition(emissions, is_tag, (start, end, transitions)) * has_tags
            return total.sum() - path - pairs.sum()

    def weight(self, targets: np.ndarray) -> float:
        """The number of tokens that count."""
        return float((targets >= 0).sum())


@dataclass(frozen=True)
class PointerLoss:
    """Every right span above 0, every other below, as one loss a row and type.

    Su et al. 2022, "ZLPR: A Novel Loss for Multi-label Classification", equation 3; a step is divided by rows x types.
    """

    num_types: int

    def sum(self, logits: paddle.Tensor, targets: paddle.Tensor) -> paddle.Tensor:
        """Scores [rows, types, length, length]; targets int64 [rows, spans, 3]: type, first and last token, or -1."""
        with paddle.amp.auto_cast(enable=False):
            scores = logits.astype("float32").reshape([logits.shape[0] * self.num_types, -1])
            right = _marked(targets, num_types=self.num_types, length=logits.shape[-1]).reshape(scores.shape)
            others = scores + right * MASKED
            ours = (1.0 - right) * MASKED - scores * right
            return (_log_sum_with_one(others) + _log_sum_with_one(ours)).sum()

    def weight(self, targets: np.ndarray) -> float:
        """Rows x types."""
        return float(len(targets) * self.num_types)


def build_entity_loss(head: HeadSpec) -> Loss:
    """The loss that belongs to a head."""
    if head.kind == "global_pointer":
        return PointerLoss(head.num_outputs)
    return CrfLoss() if head.kind == "crf" else TokenLoss()


def _shifted(chosen: paddle.Tensor, is_tag: paddle.Tensor) -> paddle.Tensor:
    """`chosen` where another tag follows, else 0."""
    follows = paddle.concat([is_tag[:, 1:], paddle.zeros_like(is_tag[:, :1])], axis=1)
    return chosen * follows.astype("float32").unsqueeze(-1)


def _log_partition(
    emissions: paddle.Tensor, is_tag: paddle.Tensor, chain: tuple[paddle.Tensor, paddle.Tensor, paddle.Tensor]
) -> paddle.Tensor:
    """Log of the sum over all paths, [rows], by the forward algorithm."""
    start, end, transitions = chain
    counts = is_tag.astype("float32").unsqueeze(-1)  # [rows, length, 1]
    alpha = emissions[:, 0] + start
    for place in range(1, emissions.shape[1]):
        onward = paddle.logsumexp(alpha.unsqueeze(2) + transitions, axis=1) + emissions[:, place]
        alpha = alpha + counts[:, place] * (onward - alpha)
    return paddle.logsumexp(alpha + end, axis=1)


def _marked(targets: paddle.Tensor, *, num_types: int, length: int) -> paddle.Tensor:
    """float32 [rows x types x length x length]: 1 at every right span."""
    num_rows = targets.shape[0]
    rows = paddle.arange(num_rows, dtype="int64").unsqueeze(1)  # [rows, 1]
    kind, first, last = targets[:, :, 0], targets[:, :, 1], targets[:, :, 2]
    places = ((rows * num_types + kind) * length + first) * length + last
    size = num_rows * num_types * length * length
    # What stands for no span goes to one place too many.
    places = paddle.where(kind >= 0, places, paddle.full_like(places, size)).flatten()
    marks = paddle.scatter(paddle.zeros([size + 1]), places, paddle.ones([places.shape[0]]))
    return marks[:size]


def _log_sum_with_one(values: paddle.Tensor) -> paddle.Tensor:
    """log(1 + sum of exp) over the last axis; Paddle's own takes far longer on a CPU where that is long."""
    largest = paddle.clip(values.detach().max(axis=-1, keepdim=True), min=0.0)
    total = paddle.exp(values - largest).sum(-1, keepdim=True) + paddle.exp(-largest)
    return (paddle.log(total) + largest).squeeze(-1)
