"""Which checkpoints stay, which one is gone on from, and what becomes of the others."""

import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from checkpoint_ranks import checkpoints, file_names, names_of, save_one, shapes_of, state_of

from ernie_pp.errors import RunError
from ernie_pp.training.checkpoint import finish, folders
from ernie_pp.training.checkpoint.choose import choose_newest, list_steps, set_aside
from ernie_pp.training.checkpoint.folders import steps_to_remove
from ernie_pp.training.checkpoint.saved import open_checkpoint


def _steps(root):
    return [step for step, _ in list_steps(root)]


def _damage(folder):
    with open(folder / "model-00000.safetensors", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")


def test_steps_are_listed_by_number_and_nothing_else_is(tmp_path):
    names = ["step-00000009", "step-00000100", "step-100000000"]
    others = [".tmp-step-00000200-0123abcd", ".old-step-00000300", "refused-step-00000400", "step-1", "step-0000000000"]
    for name in names + others:
        (tmp_path / name).mkdir()
    (tmp_path / "step-00000500").write_text("a file")
    assert _steps(tmp_path) == [100_000_000, 100, 9]
    assert list_steps(tmp_path / "none") == []


def test_the_newest_whole_one_is_chosen_and_the_refused_are_told(tmp_path):
    for step in (1, 2, 3, 4):
        save_one(tmp_path, step)
    _damage(tmp_path / "step-00000003")
    (tmp_path / "step-00000004" / "manifest.json").unlink()
    choice = choose_newest(tmp_path)
    assert choice.checkpoint is not None and choice.checkpoint.manifest.step == 2
    assert [refusal.folder.name for refusal in choice.refused] == ["step-00000004", "step-00000003"]
    assert choice.refused[0].why.startswith("manifest.json: is not there")
    assert choice.refused[1].why.startswith("model-00000.safetensors: its sha256 differs")


def test_where_nothing_is_whole_nothing_is_chosen(tmp_path):
    assert choose_newest(tmp_path / "none").checkpoint is None
    (tmp_path / "step-00000001").mkdir()
    choice = choose_newest(tmp_path)
    assert choice.checkpoint is None and len(choice.refused) == 1


def test_a_checkpoint_under_the_name_of_another_step_is_refused(tmp_path):
    save_one(tmp_path, 1)
    shutil.copytree(tmp_path / "step-00000001", tmp_path / "step-00000007")
    choice = choose_newest(tmp_path)
    assert choice.checkpoint is not None and choice.checkpoint.manifest.step == 1
    assert choice.refused[0].why.startswith("manifest.json: says step 1")


def test_what_is_refused_is_kept_under_another_name(tmp_path):
    for _ in range(3):
        (tmp_path / "step-00000001").mkdir()
        set_aside(choose_newest(tmp_path).refused)
    assert file_names(tmp_path) == ["refused-step-00000001", "refused-step-00000001-2", "refused-step-00000001-3"]
    assert list_steps(tmp_path) == []


def test_the_digest_is_that_of_the_manifest_and_tells_checkpoints_apart(tmp_path):
    save_one(tmp_path / "a", 1)
    save_one(tmp_path / "b", 1, state=state_of(value=2))
    digests = [open_checkpoint(tmp_path / name / "step-00000001").digest for name in "ab"]
    assert digests[0] != digests[1] and len(digests[0]) == 64


@pytest.mark.parametrize(
    ("steps", "keep", "spared", "removed"),
    [
        ([1, 2, 3, 4], 2, {4}, [1, 2]),
        ([4, 3, 2, 1], 2, {4, 1}, [2]),
        ([1, 2], 3, {2}, []),
        ([1, 2, 3], 1, {1}, [2]),  # saved after going back: what was just saved stays
        ([1, 2, 3], 0, {3}, [1, 2]),
    ],
)
def test_the_newest_and_the_best_are_kept(steps, keep, spared, removed):
    assert steps_to_remove(steps, keep=keep, spared=spared) == removed


def test_older_ones_go_after_the_commit_and_the_best_stays(tmp_path):
    saving = checkpoints(tmp_path, keep=2)
    for step in (1, 2, 3, 4, 5):
        assert saving.save(step, state=state_of(value=step), trainer={}, best_step=min(step, 2))
    assert file_names(tmp_path) == ["step-00000002", "step-00000004", "step-00000005"]


def test_a_link_to_a_checkpoint_elsewhere_goes_and_what_it_leads_to_stays(tmp_path):
    save_one(tmp_path / "elsewhere", 1)
    root = tmp_path / "checkpoints"
    save_one(root, 2)
    (root / "step-00000001").symlink_to(tmp_path / "elsewhere" / "step-00000001")
    assert checkpoints(root, keep=1).save(3, state=state_of(), trainer={}, best_step=None)
    assert file_names(root) == ["step-00000003"]
    assert open_checkpoint(tmp_path / "elsewhere" / "step-00000001").manifest.step == 1


def test_a_step_saved_again_takes_the_place_of_the_old_one(tmp_path):
    save_one(tmp_path, 3)
    save_one(tmp_path, 3, state=state_of(value=8), trainer={"again": True})
    assert file_names(tmp_path) == ["step-00000003"]
    checkpoint = open_checkpoint(tmp_path / "step-00000003")
    assert checkpoint.trainer() == {"again": True} and checkpoint.read_weights(shapes_of())["stage0.bias"][0, 0] == 8


def test_leftovers_of_killed_runs_go_at_the_next_start(tmp_path):
    save_one(tmp_path, 1)
    for name in (".tmp-step-00000200-0123abcd", ".old-step-00000001", ".old-step-00000009"):
        (tmp_path / name / "x").mkdir(parents=True)
    kept = ["step-00000001", "notes", ".tmp-of-the-user"]
    for name in kept[1:]:
        (tmp_path / name).mkdir()
    checkpoints(tmp_path)
    assert file_names(tmp_path) == sorted(kept)


@pytest.mark.parametrize("look", [choose_newest, checkpoints])
def test_a_checkpoint_moved_aside_by_a_killed_run_comes_back(tmp_path, look):
    save_one(tmp_path, 3)
    (tmp_path / "step-00000003").rename(tmp_path / ".old-step-00000003")
    look(tmp_path)
    assert open_checkpoint(tmp_path / "step-00000003").manifest.step == 3


def test_a_rename_that_fails_leaves_the_old_one_of_the_same_step(tmp_path, monkeypatch, caplog):
    save_one(tmp_path, 3)
    real = os.rename

    def rename(source, target):
        if ".tmp-" in str(source):
            raise OSError(5, "Input/output error")
        real(source, target)

    monkeypatch.setattr(folders.os, "rename", rename)
    assert not save_one(tmp_path, 3, state=state_of(value=8))
    assert file_names(tmp_path) == ["step-00000003"] and "Input/output error" in caplog.text
    weights = open_checkpoint(tmp_path / "step-00000003").read_weights(shapes_of())
    np.testing.assert_array_equal(weights[names_of(0)[0]], np.full((3, 2), 3, np.float32))


def test_a_checkpoint_that_cannot_be_removed_is_told_and_the_new_one_stands(tmp_path, monkeypatch, caplog):
    save_one(tmp_path, 3)
    real = os.rename

    def rename(source, target):
        if "step-00000003" in str(source):
            raise PermissionError(1, "Operation not permitted")
        real(source, target)

    monkeypatch.setattr(folders.os, "rename", rename)
    assert checkpoints(tmp_path, keep=1).save(4, state=state_of(), trainer={}, best_step=None)
    assert _steps(tmp_path) == [4, 3] and "could not be removed: " in caplog.text


def test_too_little_room_is_known_before_anything_is_written(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(folders.shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
    assert not save_one(tmp_path / "c", 4)
    assert "has 0.0 MB left, and a checkpoint needs" in caplog.text and file_names(tmp_path / "c") == []


def test_a_folder_that_cannot_be_made_is_a_failed_save(tmp_path, caplog):
    (tmp_path / "c").mkdir()
    saving = checkpoints(tmp_path / "c" / "d")
    (tmp_path / "c").rmdir()
    (tmp_path / "c").write_text("a file")
    assert not saving.save(1, state=state_of(), trainer={}, best_step=None)
    assert "could not be written, training goes on" in caplog.text
    with pytest.raises(RunError, match="the one before it neither"):
        saving.save(2, state=state_of(), trainer={}, best_step=None)


def test_a_run_folder_that_has_vanished_is_not_made_anew(tmp_path, caplog):
    (tmp_path / "run").mkdir()
    saving = checkpoints(tmp_path / "run" / "checkpoints")
    assert saving.save(1, state=state_of(), trainer={}, best_step=None)
    shutil.rmtree(tmp_path / "run")
    assert not saving.save(2, state=state_of(), trainer={}, best_step=None)
    assert "No such file or directory" in caplog.text and file_names(tmp_path) == []


def test_more_than_would_be_read_is_not_written(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(finish, "MAX_JSON_BYTES", 3000)
    assert save_one(tmp_path, 1)
    assert not save_one(tmp_path, 2, trainer={"x": "x" * 3000})
    assert "trainer.json: has 30" in caplog.text and _steps(tmp_path) == [1]
