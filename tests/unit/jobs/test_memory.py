"""The memory estimate moves with what it depends on, and says whether it fits."""

import numpy as np
import pytest

from ernie_pp.config import ModelConfig, RunConfig, SizesConfig, TrainConfig
from ernie_pp.jobs import memory
from ernie_pp.jobs.memory import BYTES_PER_PARAMETER, estimate_memory

LENGTHS = np.array([8, 64, 128])


def _estimate(lengths=LENGTHS, vocab_size=1000, *, layers=2, **train):
    sizes = SizesConfig(vocab="unused", num_layers=layers, hidden_size=32, num_heads=2)
    config = RunConfig(task="cls", output_dir="x", model=ModelConfig(sizes=sizes), train=TrainConfig(**train))
    return estimate_memory(config, vocab_size=vocab_size, lengths=lengths)


def test_every_token_of_the_vocabulary_costs_a_row_of_the_table():
    more = _estimate(vocab_size=2000).parameters - _estimate(vocab_size=1000).parameters
    assert more == 1000 * 32 * BYTES_PER_PARAMETER


def test_activations_grow_with_rows_and_layers_up_to_the_budget():
    assert _estimate(batch_size=2).activations == 2 * _estimate(batch_size=1).activations
    assert _estimate(layers=4).activations == 2 * _estimate(layers=2).activations
    assert _estimate(batch_size=10**6, micro_batch_tokens=512).activations == _estimate(batch_size=4).activations
    assert _estimate(np.array([8])).activations < _estimate().activations


@pytest.mark.parametrize(
    "available, words", [(1 << 40, ": fits"), (1 << 20, "does NOT fit: lower train.micro_batch_tokens")]
)
def test_it_says_whether_it_fits(monkeypatch, available, words):
    monkeypatch.setattr(memory, "memory_bytes", lambda: available)
    estimate = _estimate()
    assert str(estimate).endswith(words)
    assert estimate.total > estimate.parameters + estimate.activations
