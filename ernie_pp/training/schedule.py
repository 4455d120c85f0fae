"""The learning rate as a plain function of the step."""

from __future__ import annotations

import math
from typing import Literal

from ernie_pp.config.schema import TrainConfig

Shape = Literal["linear", "cosine", "constant"]


def learning_rate_at(step: int, *, num_steps: int, config: TrainConfig) -> float:
    """The rate of update number `step`, counted from 0: it rises over the warm-up, then falls towards 0."""
    num_warmup = num_warmup_steps(num_steps, warmup=config.warmup)
    if step < num_warmup:
        # Not from zero: the first update would be lost.
        return config.learning_rate * (step + 1) / num_warmup
    progress = (step - num_warmup) / max(1, num_steps - num_warmup)
    return config.learning_rate * _share(min(1.0, progress), config.schedule)


def num_warmup_steps(num_steps: int, *, warmup: float) -> int:
    """Steps in which the rate rises, for a run of `num_steps`."""
    return min(num_steps, round(num_steps * warmup))


def _share(progress: float, shape: Shape) -> float:
    if shape == "linear":
        return 1.0 - progress
    if shape == "cosine":
        return 0.5 * (1.0 + math.cos(math.pi * progress))
    return 1.0
