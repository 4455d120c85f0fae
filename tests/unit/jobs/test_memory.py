"""The memory estimate moves with what it depends on, and says whether it fits."""

import subprocess
import sys

import numpy as np
import pytest
import sample_run

from ernie_pp.config import ModelConfig, SizesConfig, TrainConfig
from ernie_pp.jobs import memory
from ernie_pp.jobs.memory import BYTES_PER_PARAMETER, estimate_memory
from ernie_pp.models.ernie import model_values

LENGTHS = np.array([8, 64, 128] * 20)


def _estimate(lengths=LENGTHS, vocab_size=1000, *, layers=2, **train):
    sizes = SizesConfig(vocab="unused", num_layers=layers, hidden_size=32, num_heads=2)
    values = model_values(ModelConfig(sizes=sizes), vocab_size=vocab_size, pad_id=0)
    return estimate_memory(values, TrainConfig(**train), lengths=lengths)


def test_every_token_of_the_vocabulary_costs_a_row_of_the_table():
    more = _estimate(vocab_size=2000).parameters - _estimate(vocab_size=1000).parameters
    assert more == 1000 * 32 * BYTES_PER_PARAMETER


def test_activations_grow_with_rows_and_layers_up_to_the_budget():
    assert _estimate(batch_size=2).activations == 2 * _estimate(batch_size=1).activations
    assert _estimate(layers=4).activations == 2 * _estimate(layers=2).activations
    assert _estimate(batch_size=10**6, micro_batch_tokens=512).activations == _estimate(batch_size=4).activations
    assert _estimate(np.array([8] * 60)).activations < _estimate().activations
    assert _estimate(np.array([128])).activations == _estimate(batch_size=1).activations, "no more rows than there are"


def test_both_passes_of_rdrop_are_counted():
    assert _estimate(rdrop_alpha=1.0).activations == 2 * _estimate().activations


@pytest.mark.parametrize(
    "available, words", [(1 << 40, ": fits"), (1 << 20, "does NOT fit: lower train.micro_batch_tokens")]
)
def test_it_says_whether_it_fits(monkeypatch, available, words):
    monkeypatch.setattr(memory, "memory_bytes", lambda: available)
    estimate = _estimate()
    assert str(estimate).endswith(words)
    assert estimate.total > estimate.parameters + estimate.activations


MEASURE = """
import resource, sys
from ernie_pp.jobs.start import start_paddle
from ernie_pp.config import CpuConfig, ModelConfig, RunConfig, SizesConfig, TrainConfig
start_paddle(CpuConfig(threads=1))
import numpy as np
from ernie_pp.data.batches import MicroBatch
from ernie_pp.jobs.memory import estimate_memory
from ernie_pp.models.ernie import build_classifier, load_encoder, model_values
from ernie_pp.models.losses import ClassificationLoss
from ernie_pp.training.build import build_engine

sizes = SizesConfig(vocab="unused", num_layers=4, hidden_size=256, num_heads=4, max_positions=256)
model, known = ModelConfig(sizes=sizes), {"vocab_size": 5000, "pad_id": 0}
train = TrainConfig(batch_size=16, rdrop_alpha=float(sys.argv[1]))
stack = build_classifier(load_encoder(model, **known, seed=0), num_labels=2, seed=0)
config = RunConfig(task="cls", output_dir="unused", train=train)
engine = build_engine(stack, loss=ClassificationLoss(), config=config, num_steps=2)
ids = np.random.default_rng(0).integers(1, 5000, (16, 256))
batch = MicroBatch(ids, np.zeros_like(ids), np.zeros(16, np.int64), np.arange(16))
for step in range(2):
    engine.train_step([batch], step=step)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(peak, estimate_memory(model_values(model, **known), train, lengths=np.full(16, 256)).total)
"""


@pytest.mark.parametrize("rdrop_alpha", ["0", "1"])
def test_the_estimate_is_near_the_measured_peak(rdrop_alpha):
    words = [sys.executable, "-c", MEASURE, rdrop_alpha]
    peak, estimate = map(int, subprocess.check_output(words, env=sample_run.environment(), text=True).split())
    assert 0.9 * peak < estimate < 1.35 * peak
