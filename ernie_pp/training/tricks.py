"""FGM and R-Drop: what they add to the loss or the gradient of a step, and nothing else."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

import paddle

from ernie_pp.models.losses import ClassificationLoss, Loss, symmetric_kl_sum
from ernie_pp.training.optim import square_sum


@dataclass(frozen=True)
class PlainObjective:
    """The loss of one forward pass."""

    loss: Loss
    num_passes: int = 1

    def share(self, logits: paddle.Tensor, targets: paddle.Tensor, *, weight: float, num_rows: int) -> paddle.Tensor:
        """This micro-batch's part of the step's loss; `weight` and `num_rows` are the whole step's."""
        return self.loss.sum(logits, targets) / weight


@dataclass(frozen=True)
class RDropObjective:
    """Mean loss of two passes with different dropout, plus alpha times how far they disagree.

    Liang et al. 2021, "R-Drop: Regularized Dropout for Neural Networks": the symmetric KL divergence is the mean over
    rows of (KL(p|q) + KL(q|p)) / 2. Without dropout both passes agree and this is the plain loss.
    """

    loss: ClassificationLoss
    alpha: float
    num_passes: int = 2

    def share(self, logits: paddle.Tensor, targets: paddle.Tensor, *, weight: float, num_rows: int) -> paddle.Tensor:
        """This micro-batch's part of the step's loss; `logits` has the rows of the second pass after the first's."""
        first, second = paddle.split(logits, 2)
        mean_sum = 0.5 * (self.loss.sum(first, targets) + self.loss.sum(second, targets))
        apart = symmetric_kl_sum(first, second, multi_label=self.loss.multi_label)
        return mean_sum / weight + (self.alpha / num_rows) * apart


def build_objective(loss: Loss, *, rdrop_alpha: float) -> PlainObjective | RDropObjective:
    """R-Drop where alpha is above 0, else the plain loss."""
    if rdrop_alpha > 0:
        assert isinstance(loss, ClassificationLoss), "the settings are checked: R-Drop is for classification"
        return RDropObjective(loss, rdrop_alpha)
    return PlainObjective(loss)


@dataclass(frozen=True)
class Fgm:
    """Adds the gradient at word embeddings moved by epsilon against the model.

    Miyato et al. 2017, "Adversarial Training Methods for Semi-Supervised Text Classification": the step is
    epsilon * g / ||g|| with g the gradient of the whole step.
    """

    epsilon: float
    table: paddle.Tensor | None  # the word embeddings, where this process holds them

    @contextlib.contextmanager
    def moved(self, gradient: paddle.Tensor) -> Iterator[None]:
        """Move the table along `gradient`, which is not zero; put it back to the bit afterwards."""
        assert self.table is not None
        norm = math.sqrt(float(square_sum(gradient)))
        before = self.table.detach().clone()
        with paddle.no_grad():
            self.table.set_value(before + (gradient * (self.epsilon / norm)).astype(before.dtype))
        try:
            yield
        finally:
            self.table.set_value(before)
