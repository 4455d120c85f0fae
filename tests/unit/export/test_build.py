"""An export is checked against the model, and one that fails leaves everything as it was."""

import json
import shutil

import numpy as np
import pytest

from ernie_pp.errors import ModelError, RunError
from ernie_pp.export import build
from ernie_pp.jobs.bundling import export_model, pick_check_rows
from ernie_pp.jobs.export import ExportOptions, export
from ernie_pp.jobs.trained import CHECK_ROWS


@pytest.fixture
def run_folder(small_run, tmp_path):
    return shutil.copytree(small_run, tmp_path / "run")


def _files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _shift_weights(monkeypatch, size):
    """Trace a model whose head is not the one that was measured."""
    original = build.copy_for_export

    def shifted(stack):
        encoder, head = original(stack)
        head.classifier.bias.set_value(head.classifier.bias + size)
        return encoder, head

    monkeypatch.setattr(build, "copy_for_export", shifted)


def test_a_program_that_answers_otherwise_is_not_kept(run_folder, monkeypatch):
    before = _files(run_folder / "bundle")
    _shift_weights(monkeypatch, 0.01)
    with pytest.raises(RunError, match=r"largest logit difference 1\.0\de-02 \(allowed 1e-05\)"):
        export(ExportOptions(str(run_folder)))
    assert _files(run_folder / "bundle") == before
    shutil.rmtree(run_folder / "bundle")
    with pytest.raises(RunError):
        export(ExportOptions(str(run_folder)))
    assert not (run_folder / "bundle").exists() and not list(run_folder.glob(".bundle*"))


def test_the_tolerance_is_the_configs(run_folder, monkeypatch):
    _shift_weights(monkeypatch, 1e-4)
    text = (run_folder / "config.yaml").read_text(encoding="utf-8")
    (run_folder / "config.yaml").write_text(text.replace("tolerance: 1.0e-05", "tolerance: 0.1"), encoding="utf-8")
    assert "rows checked" in export(ExportOptions(str(run_folder)))
    parity = json.loads((run_folder / "bundle" / "manifest.json").read_text(encoding="utf-8"))["parity"]
    assert parity["tolerance"] == 0.1 and parity["max_logit_difference"] > 5e-5


def test_another_decision_fails_however_small_the_difference(run_folder, monkeypatch):
    flip = iter([False, True] * 100)
    monkeypatch.setattr(
        "ernie_pp.tasks.cls.decode.choose_labels", lambda logits, _: np.full(logits.shape, next(flip), bool)
    )
    with pytest.raises(RunError, match="16 of 16 rows decided otherwise"):
        export_model(run_folder / "best", run_folder / "bundle", tolerance=1e-5)


def test_full_disk_leaves_the_old_bundle(run_folder, monkeypatch):
    before = _files(run_folder / "bundle")

    def no_room(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(build, "write_manifest", no_room)
    with pytest.raises(RunError, match="No space left on device"):
        export(ExportOptions(str(run_folder)))
    assert _files(run_folder / "bundle") == before and not list(run_folder.glob(".bundle*"))


@pytest.mark.parametrize("name", ["ernie_pp.json", "model.safetensors", "tokenizer.json", CHECK_ROWS, "config.json"])
def test_a_model_folder_with_a_missing_or_broken_file_is_named(run_folder, name):
    before = _files(run_folder / "bundle")
    for spoil in (lambda path: path.write_bytes(b"{"), lambda path: path.unlink()):
        spoil(run_folder / "best" / name)
        with pytest.raises((RunError, ModelError), match="best"):
            export(ExportOptions(str(run_folder)))
    assert _files(run_folder / "bundle") == before


def test_check_rows_are_spread_over_all_lengths():
    lengths = np.random.default_rng(0).permutation(1000)
    picked = lengths[pick_check_rows(lengths, 64)]
    assert (picked.min(), picked.max(), len(picked)) == (0, 999, 64)
    assert np.diff(np.sort(picked)).max() <= 17
    assert sorted(pick_check_rows(np.array([5, 3, 9]), 64)) == [0, 1, 2]
    assert len(pick_check_rows(np.array([5, 3, 9]), 1)) == 1
