"""What all ranks save together is one whole checkpoint, or none."""

import logging
import os

import numpy as np
import pytest
from checkpoint_ranks import changed, checkpoints, file_names, names_of, on_all_ranks, save_one, shapes_of, state_of

from ernie_pp.errors import NumericError, RunError
from ernie_pp.parallel.engine import EngineState
from ernie_pp.parallel.topology import Grid
from ernie_pp.training.checkpoint.saved import open_checkpoint


def test_one_process_gets_back_what_it_saved(tmp_path):
    assert save_one(tmp_path, 45, trainer={"rows": 7, "best": 0.5})
    checkpoint = open_checkpoint(tmp_path / "step-00000045")
    assert checkpoint.trainer() == {"rows": 7, "best": 0.5} and checkpoint.scalars() == {"loss_scale": 2.0}
    assert checkpoint.manifest.step == 45 and checkpoint.manifest.run == {"config": "abc"}
    state = state_of(value=45)
    for found, expected in (
        (checkpoint.read_weights(shapes_of()), state.weights),
        (checkpoint.read_optimizer(names_of(0)), state.optimizer),
    ):
        assert found.keys() == expected.keys()
        for name, array in found.items():
            np.testing.assert_array_equal(array, expected[name])
    checkpoint.check_names(shapes_of())


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "uint16", "int64", "int32"])
def test_every_type_shape_and_order_comes_back_to_the_bit(tmp_path, dtype):
    values = np.arange(6).astype(dtype)
    arrays = {"a.x": values.reshape(2, 3).T, "b.x": values[:1].reshape(()), "c.x": values[:0], "d.x": values[::2]}
    assert save_one(tmp_path, 1, state=EngineState({}, arrays, {}))
    found = open_checkpoint(tmp_path / "step-00000001").read_optimizer(list("abcd"))
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        np.testing.assert_array_equal(found[name], array)


def test_a_state_before_the_first_step_has_no_optimizer_yet(tmp_path):
    assert save_one(tmp_path, 0, state=EngineState(state_of().weights, {}, {}))
    assert open_checkpoint(tmp_path / "step-00000000").read_optimizer(names_of(0)) == {}


@pytest.mark.parametrize("order", ["fleet", "stages"])
@pytest.mark.parametrize("is_sharded", [False, True])
def test_a_grid_writes_each_stage_once_and_every_share_of_the_optimizer(tmp_path, order, is_sharded):
    def work(world):
        owned = [names_of(world.stage)[world.replica]] if is_sharded else None
        saving = checkpoints(tmp_path, world, is_sharded=is_sharded)
        return saving.save(3, state=state_of(world.stage, owned=owned), trainer={}, best_step=None)

    assert on_all_ranks(Grid(2, 2, order), work) == [True] * 4
    shares = ["-00000", "-00001"] if is_sharded else [""]
    expected = [f"optimizer-0000{stage}{share}.safetensors" for stage in (0, 1) for share in shares]
    folder = tmp_path / "step-00000003"
    models = ["model-00000.safetensors", "model-00001.safetensors"]
    assert file_names(folder) == sorted(["manifest.json", "trainer.json", *models, *expected])
    checkpoint = open_checkpoint(folder)
    checkpoint.check_names(shapes_of(2))
    assert len(checkpoint.read_weights(shapes_of(2))) == 4 and len(checkpoint.read_optimizer(shapes_of(2))) == 8
    assert checkpoint.manifest.grid == {"stages": 2, "replicas": 2, "is_sharded": is_sharded}


def test_only_what_is_asked_for_is_read(tmp_path):
    def work(world):
        return checkpoints(tmp_path, world).save(3, state=state_of(world.stage), trainer={}, best_step=None)

    assert on_all_ranks(Grid(2, 1), work) == [True] * 2
    checkpoint = open_checkpoint(tmp_path / "step-00000003")
    for name in ("model-00001.safetensors", "optimizer-00001.safetensors"):
        (tmp_path / "step-00000003" / name).unlink()
    assert sorted(checkpoint.read_weights(shapes_of(1))) == sorted(names_of(0))
    assert len(checkpoint.read_optimizer(names_of(0))) == 4


@pytest.mark.parametrize("part", ["weights", "optimizer"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_not_finite_ends_all_ranks_and_nothing_is_written(tmp_path, part, value):
    def work(world):
        state = state_of(world.stage)
        if world.rank == 1:
            list(getattr(state, part).values())[-1][2, 1] = value
        return checkpoints(tmp_path / "c", world).save(3, state=state, trainer={}, best_step=None)

    for error in on_all_ranks(Grid(2, 1), work):
        assert isinstance(error, NumericError) and error.exit_code == 4
        assert error.where == "rank 1 (stage 1, replica 0)" and "stage1.bias" in error.what
    assert not (tmp_path / "c").exists()


def test_a_bfloat16_that_is_not_finite_is_seen(tmp_path):
    for bits, is_finite in ((0x7F80, False), (0xFFC0, False), (0x7F7F, True)):
        state = EngineState({}, {"a.x": np.array([0, bits], np.uint16)}, {})
        if is_finite:
            assert save_one(tmp_path, 1, state=state)
        else:
            with pytest.raises(NumericError, match=r"optimizer state a\.x holds a value that is not finite"):
                save_one(tmp_path, 1, state=state)


def test_replicas_that_have_come_apart_end_all_ranks_and_nothing_is_written(tmp_path):
    def work(world):
        state = state_of(world.stage)
        if (world.stage, world.replica) == (1, 2):
            array = state.weights["stage1.bias"]
            array[0, 0] = np.nextafter(array[0, 0], np.float32(2))
        return checkpoints(tmp_path / "c", world).save(3, state=state, trainer={}, best_step=None)

    for error in on_all_ranks(Grid(2, 3), work):
        assert isinstance(error, NumericError) and error.exit_code == 4
        assert str(error).startswith("stage 1\n  its replicas have come apart: 2 hold other weights than 0")
    assert not (tmp_path / "c").exists()


def test_a_save_that_fails_warns_once_and_the_second_in_a_row_ends_the_run(tmp_path, caplog):
    save_one(tmp_path, 1)

    def work(world):
        saving = checkpoints(tmp_path, world)
        good = state_of(world.stage)
        bad = changed(good, "weights", names_of(world.stage)[0], np.ones(2, np.complex64))
        states = [bad, good, bad if world.stage else good]
        outcomes = [saving.save(step, state=each, trainer={}, best_step=None) for step, each in enumerate(states, 2)]
        with pytest.raises(RunError) as caught:
            saving.save(9, state=bad, trainer={}, best_step=None)
        return outcomes, str(caught.value)

    with caplog.at_level(logging.WARNING, logger="ernie_pp"):
        results = on_all_ranks(Grid(2, 1), work)
    assert results[0] == results[1] and results[0][0] == [False, True, False]
    assert "step 9 could not be written, and the one before it neither: rank 0" in results[0][1]
    assert [record.getMessage()[:40] for record in caplog.records] == [
        f"The checkpoint of step {step} could not be written"[:40] for step in (2, 4)
    ]
    assert file_names(tmp_path) == ["step-00000001", "step-00000003"]
    for name in file_names(tmp_path):
        open_checkpoint(tmp_path / name)


def test_everything_is_on_the_disk_before_the_rename_and_the_rename_before_the_answer(tmp_path, monkeypatch):
    save_one(tmp_path, 1)
    done, real_sync, real_rename = [], os.fsync, os.rename

    def fsync(descriptor):
        done.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        real_sync(descriptor)

    def rename(source, target):
        done.append(f"rename to {os.path.basename(target)}")
        real_rename(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "rename", rename)
    save_one(tmp_path, 2)
    assert done[-1] == tmp_path.name and done[-2] == "rename to step-00000002" and done[-3].startswith(".tmp-")
    assert done[-4] == "manifest.json" and done[-5] == "trainer.json"
    assert {"model-00000.safetensors", "optimizer-00000.safetensors"} <= set(done[:-5])


def test_a_file_that_rank_0_does_not_see_is_no_commit(tmp_path, caplog):
    """As on two machines whose folders have one name and are not one."""

    def work(world):
        root = tmp_path / f"disk{world.rank}"
        root.mkdir()
        return checkpoints(root, world).save(1, state=state_of(world.stage), trainer={}, best_step=None)

    assert on_all_ranks(Grid(2, 1), work) == [False, False]
    assert (
        "rank 1: " in caplog.text
        and "is not there: rank 0 made it, on a disk that this rank does not see" in caplog.text
    )
    assert file_names(tmp_path / "disk0") == file_names(tmp_path / "disk1") == []


def test_a_tensor_in_two_files_is_no_commit(tmp_path, caplog):
    def work(world):
        return checkpoints(tmp_path, world).save(1, state=state_of(0), trainer={}, best_step=None)

    assert on_all_ranks(Grid(2, 1), work) == [False, False]
    assert "tensor stage0.weight: is in model-00000.safetensors and in model-00001.safetensors" in caplog.text
