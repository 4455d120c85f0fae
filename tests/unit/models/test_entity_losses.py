"""Losses of token and span heads against what their formulas say, written out."""

import itertools

import numpy as np
import paddle
import pytest

from ernie_pp.models.entity_losses import CrfLoss, PointerLoss, TokenLoss

NUM_TAGS = 3


def _chain(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=NUM_TAGS), rng.normal(size=NUM_TAGS), rng.normal(size=(NUM_TAGS, NUM_TAGS))


def _packed(emissions, chain):
    start, end, transitions = chain
    below = np.concatenate([start[None], end[None], transitions])
    table = np.concatenate([emissions, np.broadcast_to(below, (len(emissions), *below.shape))], axis=1)
    return paddle.to_tensor(table.astype(np.float32))


def _score(emissions, tags, chain):
    start, end, transitions = chain
    total = start[tags[0]] + end[tags[-1]] + sum(e[t] for e, t in zip(emissions, tags, strict=True))
    return total + sum(transitions[a, b] for a, b in itertools.pairwise(tags))


def test_the_crf_loss_is_that_of_all_paths():
    rng, chain = np.random.default_rng(3), _chain(4)
    emissions = rng.normal(size=(2, 6, NUM_TAGS))  # [CLS], four tokens, [SEP]
    targets = np.full((2, 6), -100)
    targets[0, 1:5], targets[1, 1:3] = [0, 2, 1, 1], [2, 0]
    expected = 0.0
    for row, count in ((0, 4), (1, 2)):
        own = emissions[row, 1 : 1 + count]
        paths = [_score(own, path, chain) for path in itertools.product(range(NUM_TAGS), repeat=count)]
        expected += np.log(np.sum(np.exp(paths))) - _score(own, targets[row, 1 : 1 + count], chain)
    loss = CrfLoss()
    assert float(loss.sum(_packed(emissions, chain), paddle.to_tensor(targets))) == pytest.approx(expected, abs=1e-4)
    assert loss.weight(targets) == 6


def test_what_stands_behind_a_row_changes_no_crf_loss():
    rng, chain = np.random.default_rng(5), _chain(6)
    emissions, targets = rng.normal(size=(1, 9, NUM_TAGS)), np.full((1, 9), -100)
    targets[0, 1:4] = [1, 0, 2]
    long = float(CrfLoss().sum(_packed(emissions, chain), paddle.to_tensor(targets)))
    short = float(CrfLoss().sum(_packed(emissions[:, :5], chain), paddle.to_tensor(targets[:, :5])))
    assert long == pytest.approx(short, abs=1e-5)


def test_a_row_without_tags_adds_nothing_to_the_crf_loss():
    rng, chain = np.random.default_rng(11), _chain(12)
    emissions, targets = rng.normal(size=(2, 5, NUM_TAGS)), np.full((2, 5), -100)
    targets[0, 1:4] = [1, 0, 2]
    both = float(CrfLoss().sum(_packed(emissions, chain), paddle.to_tensor(targets)))
    alone = float(CrfLoss().sum(_packed(emissions[:1], chain), paddle.to_tensor(targets[:1])))
    assert both == pytest.approx(alone, abs=1e-5)
    assert float(CrfLoss().sum(_packed(emissions[1:, :2], chain), paddle.to_tensor(targets[1:, :2]))) == 0.0


def test_every_score_of_the_chain_gets_a_gradient():
    chain, targets = _chain(7), np.array([[-100, 0, 1, 2, -100]])
    logits = _packed(np.zeros((1, 5, NUM_TAGS)), chain)
    logits.stop_gradient = False
    CrfLoss().sum(logits, paddle.to_tensor(targets)).backward()
    gradient = logits.grad.numpy()[0]
    assert np.abs(gradient[5:]).min() > 0
    assert np.abs(gradient[[0, 4]]).max() == 0


def test_token_loss_counts_tagged_tokens_only():
    logits = np.random.default_rng(8).normal(size=(1, 4, NUM_TAGS)).astype(np.float32)
    targets = np.array([[-100, 2, 0, -100]])
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    expected = -(log_p[0, 1, 2] + log_p[0, 2, 0])
    found = TokenLoss().sum(paddle.to_tensor(logits), paddle.to_tensor(targets))
    assert float(found) == pytest.approx(expected, abs=1e-5)
    assert TokenLoss().weight(targets) == 2


def test_the_pointer_loss_is_that_of_its_formula():
    scores = np.random.default_rng(9).normal(size=(2, 2, 4, 4)).astype(np.float32)
    spans = np.array([[[0, 1, 2], [1, 0, 3]], [[1, 2, 2], [-1, -1, -1]]])
    expected = 0.0
    for row in range(2):
        for kind in range(2):
            right = {(first, last) for k, first, last in spans[row].tolist() if k == kind}
            ours = [-scores[row, kind, i, j] for i, j in right]
            others = [scores[row, kind, i, j] for i in range(4) for j in range(4) if (i, j) not in right]
            expected += np.log1p(np.sum(np.exp(ours))) + np.log1p(np.sum(np.exp(others)))
    loss = PointerLoss(num_types=2)
    assert float(loss.sum(paddle.to_tensor(scores), paddle.to_tensor(spans))) == pytest.approx(expected, rel=1e-5)
    assert loss.weight(spans) == 4
