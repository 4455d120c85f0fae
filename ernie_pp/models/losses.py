"""What a loss is, and those of a classification: sums over rows, with the weight they are divided by kept apart.

A step divides the sum of all its micro-batches by the weight of all their rows, so that the gradient does not depend
on how the rows were cut into micro-batches. Everything is computed in float32, also under AMP.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import paddle
import paddle.nn.functional as F

from ernie_pp.config.schema import ClsConfig

# Keeps the gradient of x ** gamma finite at x = 0 for gamma below 1.
_TINY = 1e-12


class Loss(Protocol):
    """A sum over the rows of a micro-batch, and the weight that a step's sums are divided by."""

    def sum(self, logits: paddle.Tensor, targets: paddle.Tensor) -> paddle.Tensor:
        """A scalar of the head's output [rows, ...] and the targets [rows, ...]."""
        ...

    def weight(self, targets: np.ndarray) -> float:
        """What the sums of these rows are divided by."""
        ...


@dataclass(frozen=True)
class ClassificationLoss:
    """Cross entropy over labels, or binary cross entropy for each label of a multi-label row.

    Label smoothing spreads `smoothing` of the target evenly over the labels (multi-label: over yes and no), as in
    Szegedy et al. 2016, "Rethinking the Inception Architecture", section 7. Focal loss multiplies each term by
    (1 - p) ** gamma, p being the probability the term is about, as in Lin et al. 2017, "Focal Loss for Dense Object
    Detection", equation 5; `label_weights` is its alpha.

    Single label: a row's loss is multiplied by its label's weight, and a step is divided by the sum of those.
    Multi-label: a row's loss is the weighted mean over labels, and a step is divided by its number of rows.
    """

    multi_label: bool = False
    label_weights: np.ndarray | None = None  # float [labels]
    gamma: float = 0.0
    smoothing: float = 0.0

    def sum(self, logits: paddle.Tensor, targets: paddle.Tensor) -> paddle.Tensor:
        """Loss summed over rows; logits [rows, labels], targets int64 [rows] or float32 [rows, labels]."""
        with paddle.amp.auto_cast(enable=False):
            logits = logits.astype("float32")
            return self._binary(logits, targets) if self.multi_label else self._cross_entropy(logits, targets)

    def weight(self, targets: np.ndarray) -> float:
        """What the sums of these rows are divided by."""
        if self.multi_label or self.label_weights is None:
            return float(len(targets))
        return float(np.asarray(self.label_weights, dtype=np.float64)[targets].sum())

    def _cross_entropy(self, logits: paddle.Tensor, targets: paddle.Tensor) -> paddle.Tensor:
        log_p = log_softmax(logits)
        target_p = F.one_hot(targets, logits.shape[-1]) * (1 - self.smoothing) + self.smoothing / logits.shape[-1]
        rows = (target_p * self._focal(log_p)).sum(-1)
        if self.label_weights is not None:
            rows = rows * paddle.to_tensor(self.label_weights, dtype="float32")[targets]
        return rows.sum()

    def _binary(self, logits: paddle.Tensor, targets: paddle.Tensor) -> paddle.Tensor:
        yes = targets.astype("float32") * (1 - self.smoothing) + self.smoothing / 2
        terms = yes * self._focal(F.log_sigmoid(logits)) + (1 - yes) * self._focal(F.log_sigmoid(-logits))
        if self.label_weights is None:
            return terms.mean(-1).sum()
        weights = paddle.to_tensor(self.label_weights, dtype="float32")
        return (terms * (weights / weights.sum())).sum()

    def _focal(self, log_p: paddle.Tensor) -> paddle.Tensor:
        """-(1 - p) ** gamma * log p."""
        if self.gamma == 0:
            return -log_p
        return -log_p * paddle.clip(-paddle.expm1(log_p), min=_TINY) ** self.gamma


def build_loss(config: ClsConfig, *, label_weights: np.ndarray | None) -> ClassificationLoss:
    """The loss of the settings; `label_weights` are the numbers `cls.class_weights` stands for, None for "none"."""
    gamma = config.focal_gamma if config.loss == "focal" else 0.0
    return ClassificationLoss(config.multi_label, label_weights, gamma, config.label_smoothing)


def symmetric_kl_sum(first: paddle.Tensor, second: paddle.Tensor, *, multi_label: bool) -> paddle.Tensor:
    """Half of KL(p|q) + KL(q|p), summed over rows; multi-label: the mean over the labels' yes/no distributions."""
    with paddle.amp.auto_cast(enable=False):
        first, second = first.astype("float32"), second.astype("float32")
        if not multi_label:
            log_p, log_q = log_softmax(first), log_softmax(second)
            return 0.5 * ((paddle.exp(log_p) - paddle.exp(log_q)) * (log_p - log_q)).sum()
        # For yes/no: (p - q) (log p - log q) + (q - p) (log(1-p) - log(1-q)) = (p - q) (logit p - logit q).
        return 0.5 * ((F.sigmoid(first) - F.sigmoid(second)) * (first - second)).mean(-1).sum()


def log_softmax(logits: paddle.Tensor) -> paddle.Tensor:
    """Log probabilities over the last axis.

    Paddle 3.3's own kernel takes time with the square of the labels on a CPU: 8 s for 50,000.
    """
    shifted = logits - logits.detach().max(axis=-1, keepdim=True)
    return shifted - paddle.log(paddle.exp(shifted).sum(-1, keepdim=True))
