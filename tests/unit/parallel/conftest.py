"""A very small ERNIE, rows for it, and an engine."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from ernie_pp.config import RunConfig
from ernie_pp.config.schema import ModelConfig, SizesConfig, TrainConfig
from ernie_pp.data.batches import MicroBatch
from ernie_pp.models.ernie import build_classifier, load_encoder
from ernie_pp.models.losses import ClassificationLoss
from ernie_pp.parallel.step import StepEngine
from ernie_pp.training.build import build_engine

NUM_ROWS, LENGTH, NUM_LABELS, VOCAB_SIZE = 12, 10, 3, 60


@pytest.fixture
def make_engine() -> Callable[..., StepEngine]:
    """Builds an engine over two blocks, 32 wide; keywords beyond `loss` and `dropout` are train settings."""

    def make(*, loss: ClassificationLoss | None = None, dropout: float = 0.0, **settings: object) -> StepEngine:
        sizes = SizesConfig(vocab="unused", num_layers=2, hidden_size=32, num_heads=2, max_positions=64)
        loaded = load_encoder(ModelConfig(sizes=sizes, dropout=dropout), vocab_size=VOCAB_SIZE, pad_id=0, seed=1)
        stack = build_classifier(loaded, num_labels=NUM_LABELS, seed=1)
        train = TrainConfig(**{"learning_rate": 1e-3, "warmup": 0.0, "schedule": "constant", **settings})
        config = RunConfig(task="cls", output_dir="unused", seed=4, train=train)
        return build_engine(stack, loss=loss or ClassificationLoss(), config=config, num_steps=10)

    return make


@pytest.fixture
def cut() -> Callable[..., list[MicroBatch]]:
    """Cuts the same twelve rows into micro-batches of the sizes given, each padded to its own longest row."""

    def make(sizes: Sequence[int], *, multi_label: bool = False) -> list[MicroBatch]:
        rng = np.random.default_rng(0)
        ids = rng.integers(1, VOCAB_SIZE, (NUM_ROWS, LENGTH))
        for row, length in enumerate(rng.integers(3, LENGTH + 1, NUM_ROWS)):
            ids[row, length:] = 0
        labels = rng.integers(0, NUM_LABELS, NUM_ROWS)
        many = (rng.random((NUM_ROWS, NUM_LABELS)) < 0.5).astype(np.float32)
        batches = []
        for rows in np.split(np.arange(NUM_ROWS), np.cumsum(sizes)[:-1]):
            own = ids[rows][:, : max(1, int((ids[rows] > 0).sum(1).max(initial=0)))]
            batches.append(MicroBatch(own, np.zeros_like(own), many[rows] if multi_label else labels[rows], rows))
        return batches

    return make


@pytest.fixture
def gradients() -> Callable[..., dict[str, np.ndarray]]:
    """The gradient a step would use, caught before the update."""

    def catch(engine: StepEngine, batches: list[MicroBatch], *, step: int = 0) -> dict[str, np.ndarray]:
        updater, caught = engine.parts.updater, {}
        original = updater.step

        def record(learning_rate: float) -> None:
            caught.update({name: np.array(p.grad) for name, p in updater.parameters.items()})

        updater.step = record
        engine.train_step(batches, step=step)
        updater.step = original
        return caught

    return catch
