import numpy as np
import pytest
from sklearn.metrics import f1_score

from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks.cls.decode import DecodeSettings, choose_labels, decode, probabilities, tune_thresholds


def _decode(logits, settings):
    count = len(logits)
    none = np.zeros(0, np.int32)
    rows = TokenRows(none, none.astype(np.int8), np.zeros(count + 1, np.int64), np.zeros(count, np.int32))
    return decode(list(logits), rows, ["x"] * count, settings)


def test_single_label_is_the_most_probable_one():
    settings = DecodeSettings(("差评", "好评"), False, (0.5, 0.5))
    predictions = _decode(np.array([[2.0, -1.0], [0.0, 3.0]]), settings)
    assert [p.labels for p in predictions] == [("差评",), ("好评",)]
    assert sum(predictions[0].probabilities.values()) == pytest.approx(1.0)


def test_multi_label_gives_all_labels_over_their_own_threshold():
    settings = DecodeSettings(("价格", "服务", "物流"), True, (0.5, 0.9, 0.2))
    (prediction,) = _decode(np.array([[0.1, 1.0, -1.0]]), settings)
    assert prediction.labels == ("价格", "物流")


def test_probabilities_stay_finite_for_extreme_logits():
    for multi_label in (False, True):
        assert np.isfinite(probabilities(np.array([[1e4, -1e4]]), multi_label=multi_label)).all()


def test_settings_survive_json():
    settings = DecodeSettings(("甲", "乙"), True, (0.25, 0.75))
    assert DecodeSettings.from_json(settings.to_json()) == settings


@pytest.mark.parametrize("per_label", [False, True])
def test_no_other_threshold_is_better_than_the_tuned_one(per_label):
    rng = np.random.default_rng(3)
    targets = rng.random((80, 3)) < 0.3
    probs = np.clip(targets * 0.3 + rng.random((80, 3)) * 0.6, 0, 1)
    thresholds = np.array(tune_thresholds(probs, targets, per_label=per_label))
    for label in range(3) if per_label else [slice(None)]:
        true, values = targets[:, label].ravel(), probs[:, label].ravel()
        tuned = f1_score(true, values >= np.broadcast_to(thresholds[label], probs[:, label].shape).ravel())
        assert tuned >= max(f1_score(true, values >= t) for t in np.linspace(0.01, 0.99, 99)) - 1e-12


def test_a_label_without_a_positive_row_keeps_one_half():
    assert tune_thresholds(np.array([[0.9], [0.1]]), np.zeros((2, 1), bool), per_label=True) == (0.5,)


def test_choose_labels_marks_exactly_one_for_single_label():
    settings = DecodeSettings(tuple("abcd"), False, (0.5,) * 4)
    chosen = choose_labels(np.random.default_rng(0).normal(size=(20, 4)), settings)
    assert (chosen.sum(axis=1) == 1).all()
