"""The head that points at answers, and its loss, against what the formulas say, written out."""

import numpy as np
import paddle
import pytest

from ernie_pp.models.answer_head import AnswerHead
from ernie_pp.models.answer_losses import AnswerLoss
from ernie_pp.models.dropout import DropoutState
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.heads import MASKED


class _Config:
    classifier_dropout, hidden_dropout_prob, hidden_size, initializer_range = 0.0, 0.0, 8, 0.02


def _head(num_outputs):
    paddle.seed(1)
    return AnswerHead(HeadSpec("answer_span", num_outputs), config=_Config, layer_index=0, state=DropoutState())


def _inputs(lengths, width):
    hidden = np.random.default_rng(2).normal(size=(len(lengths), width, 8)).astype(np.float32)
    is_padding = np.arange(width) >= np.array(lengths)[:, None]
    mask = (is_padding * MASKED).astype(np.float32)[:, None, None]
    return paddle.to_tensor(hidden), paddle.to_tensor(mask)


@pytest.mark.parametrize("num_outputs", [2, 4])
def test_padding_is_masked_in_both_borders_and_nothing_else_is_changed(num_outputs):
    head, (hidden, mask) = _head(num_outputs), _inputs([5, 3], 5)
    scores, plain = head((hidden, mask)).numpy(), head.classifier(hidden).numpy()
    assert scores.shape == (2, 5, num_outputs)
    assert (scores[1, 3:, :2] == MASKED).all()
    np.testing.assert_array_equal(scores[0], plain[0])
    np.testing.assert_array_equal(scores[1, :3], plain[1, :3])


@pytest.mark.parametrize("num_outputs", [2, 4])
def test_an_exported_head_gives_the_same(num_outputs):
    head, (hidden, mask) = _head(num_outputs), _inputs([4, 6], 6)
    np.testing.assert_array_equal(head.infer(hidden, hidden, mask).numpy(), head((hidden, mask)).numpy())


@pytest.mark.parametrize("num_outputs", [1, 3, 5])
def test_only_borders_with_or_without_yes_and_no_are_a_head(num_outputs):
    with pytest.raises(ValueError, match="expected 2 or 4"):
        HeadSpec("answer_span", num_outputs)


def _log_softmax(values):
    return values - np.log(np.exp(values).sum())


def test_spans_nothing_yes_and_no_compete_for_one_probability():
    logits = np.random.default_rng(3).normal(size=(4, 6, 4))
    targets = np.array([[2, 4], [0, 0], [-1, -1], [-2, -2]])
    expected = 0.0
    for row, (first, last) in zip(logits, targets, strict=True):
        for border, place in ((0, first), (1, last)):
            options = np.concatenate([row[:, border], row[0, 2:]])
            expected -= 0.5 * _log_softmax(options)[place if place >= 0 else 6 - 1 - place]
    found = AnswerLoss().sum(paddle.to_tensor(logits.astype(np.float32)), paddle.to_tensor(targets))
    assert float(found) == pytest.approx(expected, abs=1e-4)
    assert AnswerLoss().weight(targets) == 4.0


def test_the_loss_of_a_row_does_not_depend_on_the_padding_behind_it():
    short = np.random.default_rng(4).normal(size=(1, 4, 2)).astype(np.float32)
    long = np.concatenate([short, np.full((1, 3, 2), MASKED, np.float32)], axis=1)
    losses = [float(AnswerLoss().sum(paddle.to_tensor(one), paddle.to_tensor([[1, 2]]))) for one in (short, long)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)
