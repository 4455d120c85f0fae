"""What must be the same for the ranks of a run, and what another machine may have otherwise."""

import pytest

from ernie_pp.config import RunConfig
from ernie_pp.jobs.joining import settings_of_run


def _config(**changes):
    return RunConfig.model_validate({"task": "cls", "output_dir": "/home/one/runs/first", **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"output_dir": "/mnt/shared/runs/first"},
        {"data": {"train": "/data/train.jsonl"}},
        {"cpu": {"threads": 7}},
        {"device": "cpu"},
    ],
)
def test_machines_of_one_run_may_differ_in_places_and_hardware(changes):
    base = _config(data={"train": "/other/train.jsonl"}) if "data" in changes else _config()
    assert settings_of_run(_config(**changes)) == settings_of_run(base)


@pytest.mark.parametrize(
    "changes, key",
    [
        ({"output_dir": "/home/one/runs/second"}, "output_dir"),
        ({"train": {"epochs": 9}}, "train.epochs"),
        ({"seed": 1}, "seed"),
        ({"labels": ["a", "b"]}, "labels"),
        ({"parallel": {"stages": 2}}, "parallel.stages"),
    ],
)
def test_what_a_run_learns_must_be_the_same(changes, key):
    ours, theirs = settings_of_run(_config()), settings_of_run(_config(**changes))
    assert {name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)} == {key}
