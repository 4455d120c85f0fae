"""Losses against an independent computation in numpy (float64)."""

import numpy as np
import paddle
import pytest
from scipy.special import expit, log_softmax, rel_entr, softmax

from ernie_pp.config.schema import ClsConfig
from ernie_pp.models.losses import ClassificationLoss, build_loss, symmetric_kl_sum

RNG = np.random.default_rng(0)
LOGITS = (RNG.normal(size=(6, 4)) * 3).astype(np.float32)
LABELS = np.array([0, 3, 1, 1, 2, 0])
MANY = (RNG.random((6, 4)) < 0.4).astype(np.float32)
WEIGHTS = np.array([0.5, 1.0, 2.0, 4.0])


def expected_single(weights, gamma, smoothing):
    total = 0.0
    for logits, label in zip(LOGITS.astype(np.float64), LABELS, strict=True):
        p = softmax(logits)
        target = np.full(4, smoothing / 4)
        target[label] += 1 - smoothing
        total += weights[label] * -(target * (1 - p) ** gamma * np.log(p)).sum()
    return total


def expected_multi(weights, gamma, smoothing):
    total = 0.0
    for logits, targets in zip(LOGITS.astype(np.float64), MANY, strict=True):
        p = expit(logits)
        yes = targets * (1 - smoothing) + smoothing / 2
        terms = -yes * (1 - p) ** gamma * np.log(p) - (1 - yes) * p**gamma * np.log(1 - p)
        total += (terms * weights).sum() / weights.sum()
    return total


@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("multi", [False, True])
def test_sum_equals_numpy(multi, weights, smoothing, gamma):
    loss = ClassificationLoss(multi, weights, gamma, smoothing)
    targets, expected = (MANY, expected_multi) if multi else (LABELS, expected_single)
    found = float(loss.sum(paddle.to_tensor(LOGITS), paddle.to_tensor(targets)))
    assert found == pytest.approx(expected(np.ones(4) if weights is None else weights, gamma, smoothing), rel=1e-5)


def test_plain_loss_is_the_usual_one():
    usual = -log_softmax(LOGITS.astype(np.float64), axis=1)[np.arange(6), LABELS].mean()
    loss = ClassificationLoss()
    found = float(loss.sum(paddle.to_tensor(LOGITS), paddle.to_tensor(LABELS))) / loss.weight(LABELS)
    assert found == pytest.approx(usual, rel=1e-6)


def test_weight_is_the_sum_of_label_weights_or_the_rows():
    assert ClassificationLoss(label_weights=WEIGHTS).weight(LABELS) == pytest.approx(0.5 + 4 + 1 + 1 + 2 + 0.5)
    assert ClassificationLoss().weight(LABELS) == 6
    assert ClassificationLoss(multi_label=True, label_weights=WEIGHTS).weight(MANY) == 6


@pytest.mark.parametrize("multi", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0])
def test_extreme_logits_keep_loss_and_gradient_finite(multi, gamma):
    logits = paddle.to_tensor([[200.0, -200.0], [-200.0, 200.0]], stop_gradient=False)
    targets = paddle.to_tensor([[1.0, 0.0], [1.0, 0.0]]) if multi else paddle.to_tensor([0, 0])
    total = ClassificationLoss(multi, gamma=gamma, smoothing=0.1).sum(logits, targets)
    total.backward()
    assert np.isfinite(float(total))
    assert np.isfinite(logits.grad.numpy()).all()


def test_settings_choose_the_loss():
    assert build_loss(ClsConfig(), label_weights=None) == ClassificationLoss()
    focal = build_loss(
        ClsConfig(loss="focal", focal_gamma=3.0, label_smoothing=0.2, multi_label=True), label_weights=None
    )
    assert focal == ClassificationLoss(True, None, 3.0, 0.2)
    assert build_loss(ClsConfig(focal_gamma=3.0), label_weights=None).gamma == 0


def test_symmetric_kl_equals_numpy():
    other = LOGITS[::-1].copy()
    p, q = softmax(LOGITS.astype(np.float64), axis=1), softmax(other.astype(np.float64), axis=1)
    expected = 0.5 * (rel_entr(p, q) + rel_entr(q, p)).sum()
    found = symmetric_kl_sum(paddle.to_tensor(LOGITS), paddle.to_tensor(other), multi_label=False)
    assert float(found) == pytest.approx(expected, rel=1e-5)
    p, q = expit(LOGITS.astype(np.float64)), expit(other.astype(np.float64))
    both = rel_entr(p, q) + rel_entr(q, p) + rel_entr(1 - p, 1 - q) + rel_entr(1 - q, 1 - p)
    found = symmetric_kl_sum(paddle.to_tensor(LOGITS), paddle.to_tensor(other), multi_label=True)
    assert float(found) == pytest.approx(0.5 * both.mean(axis=1).sum(), rel=1e-5)
