"""The gradient of a step does not depend on how its rows are cut into micro-batches."""

import numpy as np
import pytest

from ernie_pp.models.losses import ClassificationLoss

WEIGHTS = np.array([0.3, 1.0, 5.0])
LOSSES = {
    "plain": ClassificationLoss(),
    "weights": ClassificationLoss(label_weights=WEIGHTS),
    "focal": ClassificationLoss(gamma=2.0),
    "smoothing": ClassificationLoss(smoothing=0.1),
    "all": ClassificationLoss(label_weights=WEIGHTS, gamma=1.5, smoothing=0.1),
    "multi": ClassificationLoss(multi_label=True),
    "multi all": ClassificationLoss(True, WEIGHTS, 2.0, 0.1),
}


def assert_same(found, expected):
    """Within 1e-6 of the whole gradient's norm, and each tensor within what float32 sums allow."""
    difference = np.sqrt(sum(float(((found[n] - e).astype("f8") ** 2).sum()) for n, e in expected.items()))
    norm = np.sqrt(sum(float((e.astype("f8") ** 2).sum()) for e in expected.values()))
    assert norm > 0
    assert difference <= 1e-6 * norm


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("sizes", [(1, 11), (5, 4, 3), (1,) * 12])
def test_gradient_of_uneven_micro_batches_equals_that_of_the_whole_batch(make_engine, cut, gradients, name, sizes):
    loss = LOSSES[name]
    engine = make_engine(loss=loss, clip_norm=None)
    whole = gradients(engine, cut([12], multi_label=loss.multi_label))
    assert_same(gradients(engine, cut(sizes, multi_label=loss.multi_label)), whole)


@pytest.mark.parametrize("settings", [{"rdrop_alpha": 2.0}, {"fgm_epsilon": 0.5}])
def test_tricks_do_not_depend_on_the_cut_either(make_engine, cut, gradients, settings):
    engine = make_engine(clip_norm=None, loss=ClassificationLoss(label_weights=WEIGHTS), **settings)
    assert_same(gradients(engine, cut([2, 7, 3])), gradients(engine, cut([12])))


def test_loss_of_a_step_is_the_mean_over_rows_and_empty_micro_batches_add_nothing(make_engine, cut):
    results = [make_engine().train_step(cut(sizes), step=0) for sizes in ([12], [5, 0, 7])]
    assert results[0].loss == pytest.approx(results[1].loss, rel=1e-6)
    assert results[0].grad_norm == pytest.approx(results[1].grad_norm, rel=1e-5)
    assert (results[0].num_rows, results[0].num_tokens) == (results[1].num_rows, results[1].num_tokens)
    assert results[0].num_tokens == sum(int((b.input_ids > 0).sum()) for b in cut([12]))
