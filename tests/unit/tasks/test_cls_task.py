"""The task's decisions: labels, weights, rule, mistakes."""

import logging

import numpy as np
import pytest

from ernie_pp.config import ClsConfig, DataConfig, RunConfig, TrainConfig
from ernie_pp.data.faults import Faults
from ernie_pp.data.labels import LabelSet
from ernie_pp.data.rows import Place, Row
from ernie_pp.data.split import Split
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import ConfigError, DataError, ModelError
from ernie_pp.tasks import load_codec, load_task
from ernie_pp.tasks.cls.decode import decode
from ernie_pp.tasks.cls.task import Task


def _task(labels=("差", "中", "好"), **sections):
    return Task(
        RunConfig(task="cls", output_dir="unused", **sections), LabelSet.from_config(labels) if labels else None
    )


def _rows(*labels):
    return [Row(Place("a.tsv", line), {"text": f"第{line}行", "label": label}) for line, label in enumerate(labels, 2)]


def test_training_rows_settle_the_labels_and_later_rows_must_keep_to_them():
    task = _task(labels=None)
    task.settle_labels(task.read(_rows("好", "差"), Faults()))
    assert task.labels.values == ("好", "差")
    faults = Faults()
    assert task.keep_known(task.read(_rows("差", "中"), faults), faults)[0].labels == ("差",)
    with pytest.raises(DataError, match=r'a\.tsv line 3\n  label: found "中", expected one of 好, 差'):
        faults.check()


@pytest.mark.parametrize("multi_label", [True, False])
def test_one_label_is_enough_where_a_text_may_have_none(multi_label):
    task = _task(labels=None, cls=ClsConfig(multi_label=multi_label))
    examples = task.read(_rows("退货", "退货"), Faults())
    if multi_label:
        task.settle_labels(examples)
        assert task.label_names == ("退货",)
    else:
        with pytest.raises(ConfigError, match="at least two"):
            task.settle_labels(examples)


@pytest.mark.parametrize(
    "multi_label, name, other", [(False, "accuracy", "exact_match"), (True, "micro_f1", "accuracy")]
)
def test_the_metric_is_the_tasks_own_or_one_it_has(multi_label, name, other):
    cls = ClsConfig(multi_label=multi_label)
    assert _task(cls=cls).best_metric() == name
    assert _task(cls=cls, train=TrainConfig(best_metric="macro_f1")).best_metric() == "macro_f1"
    with pytest.raises(ConfigError, match=f"'{other}', expected auto or one of"):
        _task(cls=cls, train=TrainConfig(best_metric=other)).best_metric()


def _split(targets, examples=()):
    count = len(targets)
    none = np.zeros(0, np.int32)
    rows = TokenRows(none, none.astype(np.int8), np.zeros(count + 1, np.int64), np.zeros(count, np.int32), targets)
    return Split("dev", "a.tsv", examples, rows)


def test_balanced_weights_are_scikit_learns():
    from sklearn.utils.class_weight import compute_class_weight

    targets = np.array([0, 0, 0, 1, 2, 2])
    loss = _task(cls=ClsConfig(class_weights="balanced")).build_loss(targets)
    expected = compute_class_weight("balanced", classes=np.arange(3), y=targets)
    weights = [loss.weight(np.array([label])) for label in range(3)]
    assert np.asarray(weights) / weights[0] == pytest.approx(expected / expected[0])


def test_a_label_without_a_row_weighs_as_if_it_had_one():
    loss = _task(cls=ClsConfig(class_weights="balanced")).build_loss(np.array([0, 0, 1]))
    assert loss.weight(np.array([2])) == pytest.approx(loss.weight(np.array([1])))


def test_thresholds_are_fixed_or_tuned_on_the_rows_given():
    logits, targets = np.array([[0.0, -1.0], [2.0, -3.0]]), np.array([[0, 1], [1, 0]], np.float32)
    fixed = _task(labels=("甲", "乙"), cls=ClsConfig(multi_label=True, threshold=0.3))
    assert fixed.settle_decoding(logits, _split(targets)).thresholds == (0.3, 0.3)
    assert not any("threshold" in note for note in fixed.notes(num_train_rows=2))
    tuned = _task(labels=("甲", "乙"), cls=ClsConfig(multi_label=True, threshold="tuned_per_label"))
    settings = tuned.settle_decoding(logits, _split(targets))
    assert tuned.measure(logits, _split(targets), settings).values["micro_f1"] == 1.0
    assert 0.5 < settings.thresholds[0] < 0.88 and settings.thresholds[1] < 0.27
    assert any("tuned_per_label" in note for note in tuned.notes(num_train_rows=2))


def test_mistakes_come_surest_first():
    task = _task()
    examples = task.read(_rows("差", "中", "好", "好"), Faults())
    logits = np.log(np.array([[0.2, 0.7, 0.1], [0.1, 0.8, 0.1], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8]]))
    split = _split(task.targets(examples), examples)
    found = task.mistakes(logits, split, task.settle_decoding(logits, split), limit=9)
    assert [(one.place, one.true, one.given) for one in found] == [
        ("a.tsv line 4", "好", "差"),
        ("a.tsv line 2", "差", "中"),
    ]
    assert [one.probability for one in found] == pytest.approx([0.9, 0.7])


def test_mistakes_of_several_labels_count_what_was_left_out():
    task = _task(cls=ClsConfig(multi_label=True), labels=("甲", "乙"))
    examples = task.read(
        [Row(Place("a", 1), {"text": "x", "label": ["甲"]}), Row(Place("a", 2), {"text": "y", "label": []})], Faults()
    )
    logits = np.array([[-3.0, -3.0], [-3.0, -3.0]])
    split = _split(task.targets(examples), examples)
    (found,) = task.mistakes(logits, split, task.settle_decoding(logits, split), limit=9)
    assert (found.text, found.true, found.given) == ("x", "甲", "(none)")
    assert found.probability == pytest.approx(1 - 1 / (1 + np.exp(3.0)))


def test_a_task_comes_back_from_what_its_model_folder_says():
    task = _task(labels={"0": "差评", "1": "好评"})
    settings = {**task.stored_settings(), "decode": {"labels": list(task.label_names)}}
    assert Task.restore(task.config, settings).labels == task.labels


def test_a_described_row_says_place_truth_and_answer():
    task = _task(labels={"0": "差评", "1": "好评"})
    (example,) = task.read(_rows(1), Faults())
    logits = np.array([[1.0, 0.0]])
    split = _split(np.array([1]), [example])
    (answer,) = task.decode(logits, split, task.settle_decoding(logits, split))
    row = task.describe(example, answer)
    assert (row["file"], row["line"], row["label"], row["prediction"]) == ("a.tsv", 2, "好评", "差评")
    assert sum(row["probabilities"].values()) == pytest.approx(1.0)


def test_an_unknown_kind_is_told():
    assert load_task("cls") is Task
    assert load_codec("cls").decode.decode is decode
    with pytest.raises(ModelError, match="task poetry\n  is not known here; known: cls, ner"):
        load_codec("poetry")


@pytest.mark.parametrize("separator, is_warned", [(None, True), ("|", False)])
def test_labels_that_look_like_several_in_one_field_are_told(separator, is_warned, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("ernie_pp"), "propagate", True)
    data = DataConfig(label_separator=separator)
    task = _task(labels=None, cls=ClsConfig(multi_label=True), data=data)
    task.settle_labels(task.read(_rows("口味|服务", "口味"), Faults()))
    assert ('labels such as "口味|服务" hold "|"' in caplog.text) == is_warned
