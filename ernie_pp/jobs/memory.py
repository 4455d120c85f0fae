"""How much memory training takes, from sizes alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ernie_pp.config import TrainConfig
from ernie_pp.machine.describe import memory_bytes
from ernie_pp.models.sizes import num_parameters

# Weights, gradients and AdamW's two moments, in fp32.
BYTES_PER_PARAMETER = 16
# Paddle itself, loaded.
BASE_BYTES = 450 << 20
# Numbers a block keeps for its backward pass: for a token's width, and for each head and token of its row. Measured:
# the estimate is 0 to 25 % above the peak of blocks 256 and 512 wide with rows of 256 tokens.
NUMBERS_PER_WIDTH, NUMBERS_PER_SCORE = 30, 6


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes of the parts, and what the machine has."""

    parameters: int
    activations: int
    available: int

    @property
    def total(self) -> int:
        """All parts."""
        return BASE_BYTES + self.parameters + self.activations

    def __str__(self) -> str:
        parts = f"parameters {_gib(self.parameters)}, activations {_gib(self.activations)}, Paddle {_gib(BASE_BYTES)}"
        fits = "fits" if self.total < self.available else "does NOT fit: lower train.micro_batch_tokens"
        return f"{_gib(self.total)} ({parts}); this machine has {_gib(self.available)}: {fits}"


def estimate_memory(values: Mapping[str, int], train: TrainConfig, *, lengths: np.ndarray) -> MemoryEstimate:
    """The peak of a step on the CPU in fp32, from a model's values and the lengths of the training rows as cut."""
    longest = int(lengths.max())
    rows = max(1, min(train.batch_size, train.micro_batch_tokens // longest, len(lengths)))
    numbers = NUMBERS_PER_WIDTH * values["hidden_size"] + NUMBERS_PER_SCORE * values["num_attention_heads"] * longest
    # R-Drop compares two forward passes, and the backward pass needs what both have kept.
    num_passes = 2 if train.rdrop_alpha > 0 else 1
    activations = 4 * num_passes * rows * longest * values["num_hidden_layers"] * numbers
    return MemoryEstimate(BYTES_PER_PARAMETER * num_parameters(values), activations, memory_bytes())


def _gib(count: int) -> str:
    return f"{count / 2**30:.2f} GiB"
