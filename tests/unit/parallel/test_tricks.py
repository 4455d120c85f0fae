"""FGM and R-Drop change what they should and nothing else."""

import numpy as np
import paddle
import pytest
from scipy.special import log_softmax, rel_entr, softmax

from ernie_pp.models.dropout import DropoutKey
from ernie_pp.models.stack import WORD_EMBEDDINGS
from ernie_pp.training.tricks import Fgm


def test_fgm_gradient_is_that_of_the_clean_and_the_moved_table(make_engine, cut, gradients):
    clean_engine = make_engine(clip_norm=None)
    clean = gradients(clean_engine, cut([12]))
    step = 0.7 * clean[WORD_EMBEDDINGS] / np.linalg.norm(clean[WORD_EMBEDDINGS])
    table = clean_engine.stack.canonical_parameters()[WORD_EMBEDDINGS]
    table.set_value(table.numpy() + step)
    moved = gradients(clean_engine, cut([12]))
    both = gradients(make_engine(clip_norm=None, fgm_epsilon=0.7), cut([12]))
    for name, value in both.items():
        # 1e-7 for k_proj.bias: its true gradient is zero
        atol = 1e-5 * np.abs(value).max() + 1e-7
        np.testing.assert_allclose(value, clean[name] + moved[name], rtol=0, atol=atol, err_msg=name)
    assert not np.allclose(moved["classifier.weight"], clean["classifier.weight"], rtol=1e-2)


def test_fgm_puts_the_weights_back_to_the_bit(make_engine, cut, gradients):
    engine = make_engine(fgm_epsilon=0.7)
    before = engine.state().weights
    gradients(engine, cut([5, 7]))
    assert all(np.array_equal(before[name], value) for name, value in engine.state().weights.items())


@pytest.fixture
def table():
    """A table of three words whose gradient is 3 and 4 in two places."""
    table = paddle.create_parameter([3, 2], "float32")
    table.set_value(np.full((3, 2), 0.1, np.float32))
    (table * paddle.to_tensor([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])).sum().backward()
    return table


def test_fgm_moves_the_table_by_epsilon_along_its_gradient(table):
    with Fgm(0.5, table).moved(table.grad):
        np.testing.assert_allclose(table.numpy(), 0.1 + np.array([[0.3, 0], [0, 0.4], [0, 0]]), rtol=1e-6)


def test_fgm_puts_the_table_back_when_the_pass_fails(table):
    before = table.numpy().copy()
    with pytest.raises(MemoryError), Fgm(1.0, table).moved(table.grad):
        raise MemoryError
    assert np.array_equal(table.numpy(), before)


@pytest.mark.parametrize("factor", [0.0, float("nan"), float("inf")])
def test_a_step_makes_no_attack_without_a_usable_gradient(make_engine, cut, monkeypatch, factor):
    engine = make_engine(fgm_epsilon=1.0)
    plain = engine.parts.replicas.summed_copy
    monkeypatch.setattr(type(engine.parts.replicas), "summed_copy", lambda self, tensor: plain(tensor) * factor)
    monkeypatch.setattr(Fgm, "moved", lambda *_: pytest.fail("was called"))
    assert not engine.train_step(cut([12]), step=0).is_skipped


def test_fgm_reports_the_clean_loss(make_engine, cut):
    plain, attacked = make_engine(), make_engine(fgm_epsilon=0.7)
    assert plain.train_step(cut([12]), step=0).loss == attacked.train_step(cut([12]), step=0).loss


def test_rdrop_without_dropout_is_the_plain_loss(make_engine, cut, gradients):
    plain, dropped = make_engine(clip_norm=None), make_engine(clip_norm=None, rdrop_alpha=3.0)
    expected = gradients(plain, cut([5, 7]))
    for name, value in gradients(dropped, cut([5, 7])).items():
        np.testing.assert_allclose(value, expected[name], rtol=0, atol=1e-6 * max(1.0, np.abs(value).max()))
    assert plain.train_step(cut([12]), step=0).loss == pytest.approx(
        dropped.train_step(cut([12]), step=0).loss, rel=1e-6
    )


def test_rdrop_loss_equals_the_papers_formula(make_engine, cut):
    engine = make_engine(dropout=0.3, rdrop_alpha=3.0)
    (batch,) = cut([12])
    head = engine.stack.canonical_parameters()["classifier.weight"]
    head.set_value(head.numpy() * 40)  # fresh weights hardly tell rows apart
    engine.stack.train()
    logits = []
    for pass_index in (0, 1):
        engine.stack.set_dropout_keys((DropoutKey(seed=4, step=2, micro_batch=0, pass_index=pass_index),))
        ids = paddle.to_tensor(batch.input_ids)
        logits.append(engine.stack(ids, paddle.zeros_like(ids)).numpy().astype("f8"))
    entropy = [-log_softmax(one, axis=1)[np.arange(12), batch.targets].mean() for one in logits]
    p, q = (softmax(one, axis=1) for one in logits)
    apart = 0.5 * (rel_entr(p, q) + rel_entr(q, p)).sum(axis=1).mean()
    assert apart > 1e-3
    expected = 0.5 * sum(entropy) + 3.0 * apart
    assert engine.train_step([batch], step=2).loss == pytest.approx(expected, rel=1e-5)
