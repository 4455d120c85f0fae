"""The layer-by-layer profile computes what the whole stack does."""

import contextlib

import numpy as np
import pytest

from ernie_pp.config.schema import ModelConfig, SizesConfig
from ernie_pp.models.ernie import build_classifier, load_encoder
from ernie_pp.models.losses import ClassificationLoss
from ernie_pp.parallel.profile import LayerProfile, allocated_bytes
from ernie_pp.partition.formula import NUMBERS_PER_SCORE, NUMBERS_PER_WIDTH
from ernie_pp.training.build import use_cpu_kernels

ROWS, LENGTH, WIDTH, VOCAB_SIZE = 3, 10, 32, 60


class _NoCasting:
    def autocast(self):
        return contextlib.nullcontext()


@pytest.fixture
def stack():
    sizes = SizesConfig(vocab="unused", num_layers=2, hidden_size=WIDTH, num_heads=2, max_positions=16)
    loaded = load_encoder(ModelConfig(sizes=sizes, dropout=0.0), vocab_size=VOCAB_SIZE, pad_id=0, seed=1)
    return build_classifier(loaded, num_labels=3, seed=1)


@pytest.fixture
def profile(stack):
    return LayerProfile(stack, casting=_NoCasting(), rows=ROWS, length=LENGTH)


def _gradients(stack):
    named = {name: parameter.grad.numpy().copy() for name, parameter in stack.canonical_parameters().items()}
    for parameter in stack.parameters():
        parameter.clear_gradient(set_to_zero=False)
    return named


def test_layers_cut_off_from_each_other_give_the_gradients_of_the_whole(stack, profile):
    profile.run()
    by_layer = _gradients(stack)
    ClassificationLoss().sum(stack(*profile.inputs), profile.targets).backward()
    whole = _gradients(stack)
    assert by_layer.keys() == whole.keys()
    for name, gradient in whole.items():
        np.testing.assert_allclose(by_layer[name], gradient, rtol=1e-4, atol=1e-7, err_msg=name)


def test_each_layer_is_measured_on_its_own(profile):
    embeddings, first, second, head = profile.run()
    hidden, mask = 4 * ROWS * LENGTH * WIDTH, 4 * ROWS * LENGTH
    assert [layer.output_bytes for layer in (embeddings, first, second, head)] == [hidden + mask] * 3 + [4]
    assert 0.8 < first.kept_bytes / second.kept_bytes < 1.25
    assert embeddings.kept_bytes >= hidden and head.kept_bytes < first.kept_bytes


def test_nothing_is_kept_from_one_round_to_the_next(profile):
    profile.run()
    before = allocated_bytes()
    for _ in range(3):
        profile.run()
    assert allocated_bytes() == before


def test_medians_are_of_one_kind_of_layer(profile, monkeypatch):
    monkeypatch.setattr("ernie_pp.parallel.profile.LEAST_S", 0.0)
    times = profile.measure()
    assert times.block.kept_bytes > times.head.kept_bytes
    assert min(times.block.forward_s, times.block.backward_s, times.embeddings.forward_s) > 0


@pytest.mark.parametrize(("rows", "length", "width", "heads"), [(4, 64, 128, 2), (2, 128, 64, 4)])
def test_a_block_keeps_what_the_formula_counts(rows, length, width, heads):
    sizes = SizesConfig(vocab="unused", num_layers=1, hidden_size=width, num_heads=heads, max_positions=length)
    loaded = load_encoder(ModelConfig(sizes=sizes, dropout=0.1), vocab_size=VOCAB_SIZE, pad_id=0, seed=1)
    stack = build_classifier(loaded, num_labels=3, seed=1)
    use_cpu_kernels(stack)
    profile = LayerProfile(stack, casting=_NoCasting(), rows=rows, length=length)
    profile.run()
    expected = 4 * rows * length * (NUMBERS_PER_WIDTH * width + NUMBERS_PER_SCORE * heads * length)
    assert profile.run()[1].kept_bytes == pytest.approx(expected, rel=0.05)
