"""A very small ERNIE and rows for it."""

from collections.abc import Callable

import numpy as np
import paddle
import pytest

from ernie_pp.config.schema import ModelConfig, SizesConfig
from ernie_pp.models.ernie import build_classifier, load_encoder
from ernie_pp.models.stack import ErnieStack

VOCAB_SIZE = 60


@pytest.fixture
def sizes() -> ModelConfig:
    return ModelConfig(sizes=SizesConfig(vocab="unused", num_layers=2, hidden_size=32, num_heads=2, max_positions=64))


@pytest.fixture
def build_stack(sizes: ModelConfig) -> Callable[..., ErnieStack]:
    """Builds a stack of two blocks, 32 wide."""

    def build(*, seed: int = 1, dropout: float = 0.0, num_labels: int = 3) -> ErnieStack:
        config = sizes.model_copy(update={"dropout": dropout})
        return build_classifier(
            load_encoder(config, vocab_size=VOCAB_SIZE, pad_id=0, seed=seed), num_labels=num_labels, seed=seed
        )

    return build


@pytest.fixture
def rows() -> tuple[paddle.Tensor, paddle.Tensor]:
    """Ids of five rows, two of them padded, and their segments."""
    ids = np.random.default_rng(0).integers(1, VOCAB_SIZE, (5, 12))
    ids[1, 7:] = ids[3, 4:] = 0
    segments = np.zeros_like(ids)
    segments[:, 5:] = 1
    return paddle.to_tensor(ids), paddle.to_tensor(segments)
