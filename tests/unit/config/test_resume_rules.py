"""Which settings may change when a run goes on."""

import pytest

from ernie_pp.config import RunConfig
from ernie_pp.config.fields import all_keys, is_section
from ernie_pp.config.resume_rules import MAY_CHANGE, changed_settings, may_change


def _config(**values):
    return RunConfig.model_validate({"task": "cls", "output_dir": "run", **values})


def _saved(**values):
    return _config(**values).model_dump(mode="json")


@pytest.mark.parametrize("name", MAY_CHANGE)
def test_what_may_change_is_a_key(name):
    assert name in all_keys()


def test_what_says_what_is_learned_may_not_change():
    fixed = {name for name in all_keys() if not may_change(name) and not is_section(tuple(name.split(".")))}
    assert {"seed", "labels", "text.max_length", "train.batch_size", "train.precision", "cls.loss"} <= fixed
    assert {name for name in fixed if name.startswith("train.")} == {
        name for name in all_keys() if name.startswith("train.")
    } - {"train.log_every", "train.micro_batch_tokens"}


def test_every_changed_setting_is_told_with_both_values():
    now = _config(train={"batch_size": 16}, seed=2, labels=("a", "b"))
    assert changed_settings(_saved(train={"batch_size": 32}), now) == [
        "seed: 42 there, 2 now",
        "labels: None there, ['a', 'b'] now",
        "train.batch_size: 32 there, 16 now",
    ]


def test_another_grid_machine_or_place_is_the_same_run():
    saved = _saved(output_dir="a", data={"train": "/a/train.tsv"}, model={"path": "/a/model"})
    other = _config(
        output_dir="b",
        data={"train": "/b/train.tsv"},
        model={"path": "/b/model"},
        parallel={"stages": 2, "replicas": 2},
        cpu={"threads": 4},
        checkpoint={"every": 7},
        resume="/a/checkpoints/step-00000001",
    )
    assert changed_settings(saved, other) == []


def test_a_model_from_elsewhere_is_compared_by_its_sizes():
    sizes = {"vocab": "/a/vocab.txt", "num_layers": 2}
    saved = _saved(model={"sizes": sizes})
    assert changed_settings(saved, _config(model={"sizes": {**sizes, "vocab": "/b/vocab.txt"}})) == []
    assert changed_settings(saved, _config(model={"sizes": {**sizes, "num_layers": 3}})) == [
        "model.sizes.num_layers: 2 there, 3 now"
    ]


def test_a_key_that_an_older_version_did_not_have_had_its_default():
    saved = _saved()
    del saved["train"]["rdrop_alpha"], saved["profile"]
    assert changed_settings(saved, _config()) == []
    assert changed_settings(saved, _config(train={"rdrop_alpha": 1.0})) == ["train.rdrop_alpha: 0.0 there, 1.0 now"]
