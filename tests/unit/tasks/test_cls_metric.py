import numpy as np
import pytest
from sklearn import metrics as oracle

from ernie_pp.tasks.cls.metric import measure


def _one_hot(indexes, num_labels):
    return np.arange(num_labels) == np.asarray(indexes)[:, None]


@pytest.mark.parametrize("num_labels, num_rows", [(2, 50), (5, 40), (15, 30)])
@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_single_label_figures_equal_scikit_learn(num_labels, num_rows, average):
    rng = np.random.default_rng(num_labels)
    true, given = rng.integers(0, num_labels, num_rows), rng.integers(0, num_labels, num_rows)
    result = measure(
        _one_hot(given, num_labels),
        _one_hot(true, num_labels),
        tuple(map(str, range(num_labels))),
        multi_label=False,
        headline="accuracy",
    )
    expected = oracle.precision_recall_fscore_support(true, given, average=average, zero_division=0)
    got = [result.values[f"{average}_{name}"] for name in ("precision", "recall", "f1")]
    assert got == pytest.approx(expected[:3], abs=1e-12)
    assert result.values["accuracy"] == pytest.approx(oracle.accuracy_score(true, given))
    assert np.array_equal(result.confusion, oracle.confusion_matrix(true, given, labels=range(num_labels)))


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_multi_label_figures_equal_scikit_learn(average):
    rng = np.random.default_rng(0)
    true, given = rng.random((60, 6)) < 0.3, rng.random((60, 6)) < 0.3
    true[:, 5] = given[:, 5] = False  # a label that never occurs
    result = measure(given, true, tuple("abcdef"), multi_label=True, headline="micro_f1")
    expected = oracle.precision_recall_fscore_support(true, given, average=average, zero_division=0)
    got = [result.values[f"{average}_{name}"] for name in ("precision", "recall", "f1")]
    assert got == pytest.approx(expected[:3], abs=1e-12)
    assert result.values["exact_match"] == pytest.approx(oracle.accuracy_score(true, given))
    each = oracle.precision_recall_fscore_support(true, given, average=None, zero_division=0)
    assert [figures.f1 for figures in result.per_label] == pytest.approx(each[2])


def test_interval_of_an_accuracy_is_close_to_the_binomial_one():
    right = np.arange(400) < 300
    chosen = _one_hot(np.where(right, 1, 0), 2)
    result = measure(chosen, _one_hot(np.ones(400, int), 2), ("a", "b"), multi_label=False, headline="accuracy")
    half = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert result.interval == pytest.approx((0.75 - half, 0.75 + half), abs=0.01)


def test_interval_is_the_same_for_the_same_seed():
    rng = np.random.default_rng(1)
    chosen, true = _one_hot(rng.integers(0, 3, 90), 3), _one_hot(rng.integers(0, 3, 90), 3)
    runs = [measure(chosen, true, ("a", "b", "c"), multi_label=False, headline="macro_f1", seed=5) for _ in range(2)]
    assert runs[0].interval == runs[1].interval
    assert runs[0].interval[0] < runs[0].values["macro_f1"] < runs[0].interval[1]
