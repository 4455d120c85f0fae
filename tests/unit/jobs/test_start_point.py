"""From where a run starts: what `resume` says, what stands in its folder, and whether the two fit."""

import numpy as np
import pytest

from ernie_pp.config import RunConfig
from ernie_pp.errors import ConfigError, RunError
from ernie_pp.jobs.start_point import find_start
from ernie_pp.parallel.engine import EngineState
from ernie_pp.parallel.world import World
from ernie_pp.training.checkpoint.save import Checkpoints
from ernie_pp.training.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path):
    """A run folder with checkpoints of steps 10 and 20."""
    folder = RunFolder(tmp_path / "run")
    folder.prepare(overwrite=False, inputs={})
    _save(folder, 10, 20)
    return folder


def _config(**values):
    return RunConfig.model_validate({"task": "cls", "output_dir": "run", **values})


def _save(folder, *steps, origin=None, **settings):
    identity = {"config": _config(**settings).model_dump(mode="json"), "origin": origin}
    saver = Checkpoints(folder.checkpoints, world=World(), keep=9, identity=identity)
    for step in steps:
        state = EngineState({"w": np.full(3, step, np.float32)}, {}, {})
        assert saver.save(step, state=state, trainer={}, best_step=None)


def _found(folder, resume="auto", **values):
    found = find_start(_config(resume=str(resume), **values), folder, is_settled=False)
    return None if found is None else found.manifest.step


def _spoil(folder, step):
    path = folder.checkpoints / f"step-{step:08d}" / "model-00000.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def _finish(folder):
    for path in (folder.metrics, folder.predictions, folder.report):
        path.write_text("{}", encoding="utf-8")


@pytest.mark.parametrize("resume", ["auto", "must"])
def test_the_newest_checkpoint_is_gone_on_from(folder, resume):
    assert _found(folder, resume) == 20


@pytest.mark.parametrize("words", [{}, {"overwrite": True}])
def test_who_wants_to_start_anew_does(folder, words):
    assert _found(folder, "never", **words) is None


def test_overwrite_replaces_an_unfinished_run_only_where_it_is_another(folder, caplog):
    assert _found(folder, overwrite=True) == 20
    assert _found(folder, overwrite=True, train={"learning_rate": 1e-3}) is None
    _spoil(folder, 10)
    _spoil(folder, 20)
    assert _found(folder, overwrite=True) is None


def test_an_empty_folder_is_a_beginning_unless_there_must_be_something(tmp_path):
    folder = RunFolder(tmp_path / "new")
    assert _found(folder) is None
    with pytest.raises(ConfigError, match=r"resume\n  is must, and there is no checkpoint in .*\n.*resume=auto"):
        _found(folder, "must")


def test_a_damaged_one_is_told_and_the_one_before_it_taken(folder, caplog):
    _spoil(folder, 20)
    assert _found(folder) == 10
    assert "step-00000020 is not used: model-00000.safetensors: " in caplog.text and "sha256" in caplog.text


def test_must_takes_nothing_but_the_newest(folder):
    _spoil(folder, 20)
    with pytest.raises(
        ConfigError, match=r"not whole; step-00000020: .*sha256(?s:.)*resume=auto to go on from step 10"
    ):
        _found(folder, "must")


def test_where_none_is_whole_nothing_is_replaced(folder):
    _spoil(folder, 10)
    _spoil(folder, 20)
    with pytest.raises(RunError, match=r"holds 2 checkpoints, none of them whole(?s:.)*resume=never overwrite=true"):
        _found(folder)


def test_a_run_that_has_come_to_its_end_is_not_gone_on_with(folder):
    _finish(folder)
    assert _found(folder, export={"enabled": False}) is None
    assert _found(folder) == 20, "its bundle is still to be made"
    with pytest.raises(ConfigError, match="has come to its end"):
        _found(folder, "must", export={"enabled": False})


def test_other_settings_are_told_and_stop(folder):
    with pytest.raises(ConfigError, match=r"step-00000020\n(?s:.)*train\.learning_rate: 5e-05 there, 0\.001 now"):
        _found(folder, train={"learning_rate": 1e-3})


@pytest.mark.parametrize("place", ["", "checkpoints", "checkpoints/step-00000020"])
def test_a_path_names_a_checkpoint_or_the_newest_of_a_run(folder, tmp_path, place):
    assert _found(RunFolder(tmp_path / "other"), folder.root / place) == 20


def test_an_earlier_one_of_the_same_folder_is_refused_while_later_ones_stand_there(folder, tmp_path):
    earlier = folder.checkpoints / "step-00000010"
    with pytest.raises(ConfigError, match="later checkpoints stand beside it: step-00000020"):
        _found(folder, earlier)
    assert _found(RunFolder(tmp_path / "other"), earlier) == 10


def test_a_fork_that_has_begun_is_gone_on_with_and_another_run_is_not(folder, tmp_path):
    fork, other = RunFolder(tmp_path / "fork"), RunFolder(tmp_path / "other")
    for place, origin in ((fork, str(folder.checkpoints.resolve())), (other, None)):
        place.prepare(overwrite=False, inputs={})
        _save(place, 30, origin=origin)
    assert _found(fork, folder.root) == 30
    assert _found(other, folder.root) == 20, "whose place is then found to be taken"


@pytest.mark.parametrize("name", ["nowhere", "run/checkpoints/step-00000030", "file"])
def test_a_path_that_is_no_checkpoint_is_told(folder, tmp_path, name):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"expected auto, must, never, or the folder of a checkpoint"):
        _found(RunFolder(tmp_path / "other"), tmp_path / name)


def test_a_damaged_one_that_is_named_is_told(folder, tmp_path):
    _spoil(folder, 20)
    with pytest.raises(ConfigError, match=r"resume\n  names .*step-00000020, which is not used: .*sha256"):
        _found(RunFolder(tmp_path / "other"), folder.checkpoints / "step-00000020")
