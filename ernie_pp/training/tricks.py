"""FGM and R-Drop: what they add to the loss or the gradient of a step, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import paddle

from ernie_pp.models.losses import ClassificationLoss, symmetric_kl_sum
from ernie_pp.training.optim import square_sum

# Logits of one forward pass over the micro-batch; passes of different numbers draw different dropout masks.
Forward = Callable[[int], paddle.Tensor]


@dataclass(frozen=True)
class PlainObjective:
    """The loss of one forward pass."""

    loss: ClassificationLoss
    num_passes: int = 1

    def share(self, forward: Forward, targets: paddle.Tensor, *, weight: float, num_rows: int) -> paddle.Tensor:
        """This micro-batch's part of the step's loss; `weight` and `num_rows` are the whole step's."""
        return self.loss.sum(forward(0), targets) / weight


@dataclass(frozen=True)
class RDropObjective:
    """Mean loss of two passes with different dropout, plus alpha times how far they disagree.

    Liang et al. 2021, "R-Drop: Regularized Dropout for Neural Networks": the symmetric KL divergence is the mean over
    rows of (KL(p|q) + KL(q|p)) / 2. Without dropout both passes agree and this is the plain loss.
    """

    loss: ClassificationLoss
    alpha: float
    num_passes: int = 2

    def share(self, forward: Forward, targets: paddle.Tensor, *, weight: float, num_rows: int) -> paddle.Tensor:
        """This micro-batch's part of the step's loss; `weight` and `num_rows` are the whole step's."""
        first, second = forward(0), forward(1)
        mean_sum = 0.5 * (self.loss.sum(first, targets) + self.loss.sum(second, targets))
        apart = symmetric_kl_sum(first, second, multi_label=self.loss.multi_label)
        return mean_sum / weight + (self.alpha / num_rows) * apart


def build_objective(loss: ClassificationLoss, *, rdrop_alpha: float) -> PlainObjective | RDropObjective:
    """R-Drop where alpha is above 0, else the plain loss."""
    return RDropObjective(loss, rdrop_alpha) if rdrop_alpha > 0 else PlainObjective(loss)


@dataclass(frozen=True)
class Fgm:
    """Adds the gradient at word embeddings moved by epsilon against the model.

    Miyato et al. 2017, "Adversarial Training Methods for Semi-Supervised Text Classification": the step is
    epsilon * g / ||g|| with g the gradient of the whole step.
    """

    epsilon: float
    table: paddle.Tensor  # the word embeddings

    def add_gradient(self, accumulate: Callable[[], object]) -> None:
        """Move the table, let `accumulate` add the gradient there, put the table back to the bit.

        Does nothing where the table has no gradient, or one that is zero or not finite.
        """
        gradient = self.table.grad
        if gradient is None:
            return
        norm = math.sqrt(float(square_sum(gradient)))
        if not math.isfinite(norm) or norm == 0.0:
            return
        before = self.table.detach().clone()
        with paddle.no_grad():
            self.table.set_value(before + (gradient * (self.epsilon / norm)).astype(before.dtype))
        try:
            accumulate()
        finally:
            self.table.set_value(before)
