"""What is exported from: a checkpoint of a run, and task models that PaddleNLP wrote; and what the dev split says."""

import dataclasses
import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from ernie_pp.errors import ConfigError, ModelError, RunError
from ernie_pp.export.bundle import open_bundle
from ernie_pp.jobs import exporting
from ernie_pp.jobs.export import ExportOptions, export
from ernie_pp.serving import Predictor


@pytest.fixture(scope="module")
def run(small_run, tmp_path_factory):
    return shutil.copytree(small_run, tmp_path_factory.mktemp("export") / "run")


def _steps(run):
    return sorted(int(path.name.removeprefix("step-")) for path in (run / "checkpoints").iterdir())


def _plain(run, folder, **values):
    """best/ as PaddleNLP itself would have written it."""
    shutil.copytree(run / "best", folder, ignore=shutil.ignore_patterns("ernie_pp.json", "check_rows*", "text.json"))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, **values}), encoding="utf-8")
    return folder


def test_a_checkpoint_is_exported_beside_the_best_model(run):
    step = _steps(run)[-1]
    told = export(ExportOptions(run_dir=str(run), step=step, format="inference-legacy"))
    bundle = open_bundle(run / "bundles" / f"inference-legacy-fp32-step-{step}")
    assert str(bundle.folder) in told and bundle.manifest["step"] == step
    parity = bundle.manifest["parity"]
    assert parity["dev_bundle"] == pytest.approx(parity["dev_model"], abs=1e-9)
    assert bundle.manifest["dev"]["accuracy"] == pytest.approx(parity["dev_model"], abs=1e-9)


def test_a_step_that_was_not_kept_names_those_that_were(run):
    with pytest.raises(RunError, match=f"no checkpoint of step 7000[\\s\\S]*There are: .*{_steps(run)[-1]}"):
        export(ExportOptions(run_dir=str(run), step=7000))


def test_a_loss_on_dev_over_the_limit_is_no_bundle(run, monkeypatch):
    real = exporting.export_model

    def worse(*arguments, rows, **options):
        dev = dataclasses.replace(rows.dev, of_bundle=lambda *_: rows.dev.of_model() - 0.02)
        return real(*arguments, rows=dataclasses.replace(rows, dev=dev), **options)

    monkeypatch.setattr(exporting, "export_model", worse)
    with pytest.raises(RunError, match=r"2\.00 points lost \(allowed 0\.5\)"):
        export(ExportOptions(run_dir=str(run), format="inference-legacy", precision="int8"))
    assert not (run / "bundles" / "inference-legacy-int8").exists()


def test_a_classifier_of_paddlenlp_answers_as_the_run_does(run, tmp_path):
    model, texts = _plain(run, tmp_path / "plain"), ["房间很干净。", "太差了，不会再来。"]
    export(ExportOptions(model=str(model), max_length=32, output=str(tmp_path / "bundle")))
    ours, theirs = Predictor(run / "bundle")(texts), Predictor(tmp_path / "bundle")(texts)
    assert [one.labels for one in ours] == [one.labels for one in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert one.to_fields()["probabilities"] == pytest.approx(other.to_fields()["probabilities"], abs=1e-6)


def test_tags_in_another_order_are_the_same_tags(run, tmp_path):
    tags = ["I-地点", "O", "B-人名", "B-地点", "I-人名"]
    architecture = {"architectures": ["ErnieForTokenClassification"], "num_labels": len(tags)}
    labels = {"id2label": {str(index): tag for index, tag in enumerate(tags)}}
    model = _plain(run, tmp_path / "plain", **architecture, **labels)
    weights = load_file(model / "model.safetensors")
    # Every token is B-人名, by the bias alone.
    weights["classifier.weight"] = np.zeros((weights["classifier.weight"].shape[0], 5), np.float32)
    weights["classifier.bias"] = np.array([0, 0, 9, 0, 0], np.float32)
    save_file(weights, model / "model.safetensors")
    export(ExportOptions(model=str(model), max_length=32, output=str(tmp_path / "bundle")))
    found = Predictor(tmp_path / "bundle")(["王芳"])[0].mentions
    assert [(one.start, one.end, one.label) for one in found] == [(0, 1, "人名"), (1, 2, "人名")]


@pytest.mark.parametrize(
    "values, match",
    [
        ({"architectures": ["ErnieForMultipleChoice"]}, "ErnieForMultipleChoice"),
        ({"architectures": None}, "names the architecture None"),
        ({"id2label": {"0": "a", "1": "a"}}, "gives each output from 0 on a name of its own"),
        ({"id2label": {"1": "a", "2": "b"}}, "gives each output from 0 on a name of its own"),
    ],
)
def test_a_model_that_is_none_of_ours_is_told(run, tmp_path, values, match):
    model = _plain(run, tmp_path / "plain", **values)
    with pytest.raises(ModelError, match=match):
        export(ExportOptions(model=str(model), max_length=32, output=str(tmp_path / "bundle")))
    assert not (tmp_path / "bundle").exists()


@pytest.mark.parametrize(
    "options, match",
    [
        ({}, "one of them is needed"),
        ({"run_dir": "a", "model": "b"}, "one of them is needed"),
        ({"run_dir": "a", "max_length": 9}, "--max-length"),
        ({"run_dir": "a", "allow_pickle": True}, "--allow-pickle"),
        ({"model": "b", "step": 3}, "--step"),
        ({"model": "b", "output": "c"}, "--max-length"),
        ({"model": "b", "max_length": 3}, "--output"),
    ],
)
def test_words_that_do_not_go_together_are_told(options, match):
    with pytest.raises(ConfigError, match=match):
        export(ExportOptions(**options))
