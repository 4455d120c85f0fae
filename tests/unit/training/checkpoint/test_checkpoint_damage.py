"""Whatever is wrong with a checkpoint's files, it is said by name, and nothing of them runs or fills the memory."""

import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
import sample_run
from checkpoint_ranks import names_of, save_one, shapes_of, state_of
from safetensors.numpy import load_file, save_file

from ernie_pp.errors import RunError
from ernie_pp.parallel.engine import EngineState
from ernie_pp.training.checkpoint.saved import open_checkpoint

MODEL, OPTIMIZER = "model-00000.safetensors", "optimizer-00000.safetensors"


@pytest.fixture
def folder(tmp_path):
    save_one(tmp_path, 5)
    return tmp_path / "step-00000005"


def _manifest(folder):
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def _write_manifest(folder, values):
    (folder / "manifest.json").write_text(json.dumps(values), encoding="utf-8")


def _make_consistent(folder, name):
    """Let the manifest tell of a file as it is now."""
    content = (folder / name).read_bytes()
    values = _manifest(folder)
    values["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    _write_manifest(folder, values)


def _refusal(folder, **words):
    with pytest.raises(RunError) as caught:
        open_checkpoint(folder, **words)
    return str(caught.value)


def _flip_bit(path, position=-3):
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("name", [MODEL, OPTIMIZER, "trainer.json"])
def test_a_flipped_bit_is_seen_by_the_hash(folder, name):
    _flip_bit(folder / name)
    assert f"{name}\n  its sha256 differs" in _refusal(folder)


def test_large_files_need_not_be_hashed_but_are_measured(folder):
    _flip_bit(folder / MODEL)
    open_checkpoint(folder, verify=False)
    _flip_bit(folder / "trainer.json")
    assert "trainer.json\n  its sha256 differs" in _refusal(folder, verify=False)
    with open(folder / MODEL, "ab") as file:
        file.write(b"\0")
    assert f"{MODEL}\n  has " in _refusal(folder, verify=False)


@pytest.mark.parametrize("name", [MODEL, OPTIMIZER, "trainer.json", "manifest.json"])
def test_a_file_that_is_missing_is_named(folder, name):
    (folder / name).unlink()
    assert f"{name}\n  is not there" in _refusal(folder)


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
@pytest.mark.parametrize("name", [MODEL, "manifest.json"])
def test_only_regular_files_are_opened(folder, tmp_path, kind, name):
    shutil.move(folder / name, tmp_path / "elsewhere")
    if kind == "link":
        (folder / name).symlink_to(tmp_path / "elsewhere")
    elif kind == "folder":
        (folder / name).mkdir()
    else:
        os.mkfifo(folder / name)
    assert f"{name}\n  is " in _refusal(folder) and "regular file" in _refusal(folder)


@pytest.mark.parametrize("size", [0, 1, 100, -2])
def test_a_truncated_manifest_is_named(folder, size):
    content = (folder / "manifest.json").read_bytes()
    (folder / "manifest.json").write_bytes(content[:size])
    assert "manifest.json\n  cannot be read as JSON" in _refusal(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"step": -1},
        {"step": True},
        {"step": 1e3},
        {"files": []},
        {"files": {}},
        {"files": {"trainer.json": {"bytes": "7", "sha256": ""}}},
        {"tensors": {"weights": {}}},
        {"tensors": {"weights": {"a": {"file": MODEL, "shape": "33", "dtype": "float32"}}, "optimizer": {}}},
        {"tensors": {"weights": {"a": {"file": "other", "shape": [1], "dtype": "float32"}}, "optimizer": {}}},
        {"grid": None},
        {"run": "x"},
    ],
)
def test_a_manifest_of_another_form_is_refused(folder, change):
    _write_manifest(folder, {**_manifest(folder), **change})
    assert _refusal(folder).startswith(str(folder / "manifest.json"))


@pytest.mark.parametrize("content", ["[" * 100_000, "[]", "null", "NaN", '"' + "\\ud800" * 9 + '"', "9" * 10_000])
def test_json_that_is_no_manifest_is_refused(folder, content):
    (folder / "manifest.json").write_text(content)
    assert _refusal(folder).startswith(str(folder / "manifest.json"))


def test_a_huge_manifest_is_not_read_into_memory(folder):
    os.truncate(folder / "manifest.json", 1 << 40)
    assert "manifest.json\n  is larger than 16000000 bytes" in _refusal(folder)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/b", "..", ".", "", "a\0b", "\ud800"])
def test_a_name_that_leaves_the_folder_is_not_opened(folder, name):
    (folder.parent / "x").write_bytes(b"")
    values = _manifest(folder)
    values["files"][name] = {"bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    _write_manifest(folder, values)
    assert "a plain name in the same folder was expected" in _refusal(folder)


class _Evil:
    def __reduce__(self):
        return os.system, ("touch ran",)


def test_a_pickle_under_the_name_of_a_tensor_file_runs_nothing(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / MODEL).write_bytes(pickle.dumps(_Evil()))
    assert f"{MODEL}\n  has " in _refusal(folder)
    _make_consistent(folder, MODEL)
    assert f"{MODEL}\n  is no readable safetensors file" in _refusal(folder)
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"odd": np.ones((3, 2), np.float32)}, "tensor odd is F32 [3, 2], the manifest says not there"),
        ({"stage0.bias": None}, "tensor stage0.bias is not there, the manifest says F32 [3, 2]"),
        (
            {"stage0.bias": np.ones((2, 3), np.float32)},
            "tensor stage0.bias is F32 [2, 3], the manifest says F32 [3, 2]",
        ),
        ({"stage0.bias": np.ones((3, 2), np.int32)}, "tensor stage0.bias is I32 [3, 2], the manifest says F32 [3, 2]"),
    ],
)
def test_tensors_in_a_file_are_compared_with_the_manifest(folder, change, what):
    arrays = {**load_file(folder / MODEL), **change}
    save_file({name: array for name, array in arrays.items() if array is not None}, folder / MODEL)
    _make_consistent(folder, MODEL)
    assert f"{MODEL}\n  {what}" in _refusal(folder)


def test_a_type_that_numpy_lacks_is_refused_though_the_manifest_names_it_too(folder):
    header = json.dumps({"stage0.weight": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}).encode()
    (folder / MODEL).write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    _make_consistent(folder, MODEL)
    values = _manifest(folder)
    values["tensors"]["weights"] = {"stage0.weight": {"file": MODEL, "shape": [2], "dtype": "BF16"}}
    _write_manifest(folder, values)
    assert f"{MODEL}\n  tensor stage0.weight is BF16 [2], the manifest says of an unknown type [2]" in _refusal(folder)


def test_a_header_that_tells_of_more_than_the_file_holds_takes_no_memory(folder):
    header = json.dumps({"stage0.weight": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]}}).encode()
    (folder / MODEL).write_bytes(len(header).to_bytes(8, "little") + header)
    _make_consistent(folder, MODEL)
    assert f"{MODEL}\n  is no readable safetensors file" in _refusal(folder)


def test_a_checkpoint_of_another_model_is_refused_by_the_name_of_the_tensor(tmp_path):
    own, bias = state_of(), np.ones((3, 2), np.float32)
    moment = {"other.moment1_0": bias}
    for step, weights, optimizer, what in (
        (1, {"stage0.weight": bias}, {}, "manifest.json\n  the checkpoint has no tensor stage0.bias"),
        (2, {**own.weights, "other": bias}, {}, f"{MODEL}\n  tensor other belongs to no parameter"),
        (3, {**own.weights, "stage0.bias": bias[:2]}, {}, f"{MODEL}\n  tensor stage0.bias has shape [2, 2]"),
        (4, own.weights, moment, f"{OPTIMIZER}\n  optimizer state other.moment1_0 belongs to no parameter"),
    ):
        save_one(tmp_path, step, state=EngineState(weights, optimizer, {}))
        checkpoint = open_checkpoint(tmp_path / f"step-0000000{step}")
        with pytest.raises(RunError) as caught:
            checkpoint.check_names(shapes_of())
        assert what in str(caught.value)


@pytest.mark.parametrize("shapes", [{"none": (1,)}, {"stage0.bias": (2, 3)}])
def test_weights_that_are_not_there_as_asked_are_named(folder, shapes):
    with pytest.raises(RunError, match=r"none|tensor stage0\.bias has shape \[3, 2\], the model's is \[2, 3\]"):
        open_checkpoint(folder).read_weights(shapes)


def test_a_folder_that_is_none_is_told(tmp_path):
    assert "is not there, or no folder" in _refusal(tmp_path / "none")
    assert "manifest.json\n  is not there" in _refusal(tmp_path)


def test_saving_and_reading_needs_no_paddle():
    code = """
import sys
from ernie_pp.training.checkpoint import choose, save, saved
assert "paddle" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=sample_run.environment())


def test_the_optimizer_of_some_parameters_is_read_alone(folder):
    found = open_checkpoint(folder).read_optimizer(names_of(0)[:1])
    assert sorted(found) == ["stage0.weight.beta1_pow_acc_0", "stage0.weight.moment1_0"]


@pytest.mark.parametrize("name", ["\ud800", "w\x1b[2J"])
def test_a_tensor_of_a_name_that_no_screen_shows_is_refused(folder, name):
    values = _manifest(folder)
    tensors = values["tensors"]["weights"]
    tensors[name] = tensors.pop(next(iter(tensors)))
    _write_manifest(folder, values)
    assert f"{name!a} is no name of a tensor" in _refusal(folder)
