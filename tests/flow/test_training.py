"""A whole training run in a process of its own: what it leaves, and that it can be trusted."""

import json
import math
import shutil
import signal
import subprocess

import numpy as np
import pytest
import sample_run
from sklearn import metrics as oracle

LOG_FIELDS = {
    "kind",
    "step",
    "time",
    "epoch",
    "loss",
    "learning_rate",
    "grad_norm",
    "num_skipped",
    "tokens_per_s",
    "step_time_s",
    "peak_memory_bytes",
    "ranks",
}


def _log(folder, kind):
    return [line for line in sample_run.read_jsonl(folder / "log.jsonl") if line["kind"] == kind]


def test_run_folder_is_complete(run_folder):
    expected = {"config.yaml", "log.jsonl", "vdl", "metrics.json", "predictions.jsonl", "best", "bundle", "report.html"}
    assert expected <= {path.name for path in run_folder.iterdir()}
    assert list((run_folder / "vdl").iterdir())
    assert not [path.name for path in run_folder.rglob(".*")], "no temporary file is left"


def test_summary_is_on_stdout_and_progress_on_stderr(finished):
    folder, done = finished
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "dev:",
        "test:",
        "baseline:",
        "report:",
        "bundle:",
    ]
    assert str(folder / "report.html") in done.stdout
    assert "step 36: dev accuracy" in done.stderr
    assert done.stderr.splitlines()[0].split(" ", 1)[1] in (folder / "run.log").read_text(encoding="utf-8")


def test_every_step_is_in_a_log_line_with_all_fields(run_folder):
    lines = _log(run_folder, "train")
    assert [line["step"] for line in lines] == list(range(2, 37, 2))
    assert all(set(line) == LOG_FIELDS for line in lines)
    assert all(math.isfinite(line["loss"]) and line["tokens_per_s"] > 0 for line in lines)
    assert lines[-1]["epoch"] == 6.0
    assert lines[-1]["loss"] < lines[0]["loss"]


def test_evaluations_are_logged_and_the_best_is_kept(run_folder):
    evaluations = _log(run_folder, "evaluate")
    assert [line["step"] for line in evaluations] == [6, 12, 18, 24, 30, 36]
    best = max(evaluations, key=lambda line: line["accuracy"])  # the first of equally good ones
    assert json.loads((run_folder / "metrics.json").read_text(encoding="utf-8"))["best_step"] == best["step"]
    assert json.loads((run_folder / "best" / "ernie_pp.json").read_text(encoding="utf-8"))["step"] == best["step"]


def test_figures_computed_from_predictions_are_those_of_metrics_json(run_folder, dev_predictions):
    figures = json.loads((run_folder / "metrics.json").read_text(encoding="utf-8"))["dev"]
    true = [row["label"] for row in dev_predictions]
    given = [row["prediction"] for row in dev_predictions]
    assert figures["accuracy"] == pytest.approx(oracle.accuracy_score(true, given))
    assert figures["macro_f1"] == pytest.approx(oracle.f1_score(true, given, average="macro"))
    assert figures["confusion"] == oracle.confusion_matrix(true, given, labels=["0", "1"]).tolist()
    assert all(row["prediction"] == max(row["probabilities"], key=row["probabilities"].get) for row in dev_predictions)


def test_predictions_stand_in_the_order_of_the_dev_file(dev_predictions, dev_file):
    rows = sample_run.read_jsonl(dev_file)
    assert [row["text"] for row in dev_predictions] == [row["text"] for row in rows]
    assert [row["line"] for row in dev_predictions] == list(range(1, len(rows) + 1))


def test_the_resolved_config_makes_the_same_run_again(run_folder, tmp_path):
    again = sample_run.train(run_folder / "config.yaml", f"output_dir={tmp_path / 'again'}", "export.enabled=false")
    assert again.returncode == 0, again.stderr
    assert "not exported" in again.stdout and not (tmp_path / "again" / "bundle").exists()
    losses = [[line["loss"] for line in _log(folder, "train")] for folder in (run_folder, tmp_path / "again")]
    assert losses[0] == losses[1], "same seed, same losses to the bit"
    predictions = [(folder / "predictions.jsonl").read_bytes() for folder in (run_folder, tmp_path / "again")]
    assert predictions[0] == predictions[1]


def test_a_rerun_with_other_settings_is_refused_and_touches_nothing(run_folder):
    before = (run_folder / "metrics.json").stat().st_mtime_ns
    done = sample_run.train(run_folder.parent / "config.yaml", "seed=7")
    assert done.returncode == 1
    assert "holds the results of an earlier run" in done.stderr and "overwrite=true" in done.stderr
    assert (run_folder / "metrics.json").stat().st_mtime_ns == before


def test_paddlenlp_itself_opens_best_and_gives_the_same_probabilities(run_folder, dev_predictions):
    code = """
import json, sys
import paddle
from paddlenlp.transformers import ErnieForSequenceClassification, ErnieTokenizer
folder, texts = sys.argv[1], json.load(sys.stdin)
model, tokenizer = ErnieForSequenceClassification.from_pretrained(folder), ErnieTokenizer.from_pretrained(folder)
model.eval()
rows = []
for text in texts:
    encoded = tokenizer(text, max_length=32)
    with paddle.no_grad():
        logits = model(*(paddle.to_tensor([encoded[name]]) for name in ("input_ids", "token_type_ids")))
    rows.append(paddle.nn.functional.softmax(logits)[0].tolist())
print(json.dumps([rows, model.config.id2label[1]]))
"""
    texts = json.dumps([row["text"] for row in dev_predictions]).encode()
    command = [*sample_run.command()[:1], "-c", code, str(run_folder / "best")]
    done = subprocess.run(command, input=texts, capture_output=True, env=sample_run.environment(), timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    table, name = json.loads(done.stdout.splitlines()[-1])
    ours = [list(row["probabilities"].values()) for row in dev_predictions]
    assert np.abs(np.array(table) - ours).max() < 1e-5
    assert name == "1"


def test_evaluate_gives_the_dev_figures_of_the_run(run_folder, dev_file, tmp_path):
    output = tmp_path / "figures.json"
    done = sample_run.run("evaluate", "--run", str(run_folder), "--data", str(dev_file), "--output", str(output))
    assert done.returncode == 0, done.stderr
    figures = json.loads(output.read_text(encoding="utf-8"))
    dev = json.loads((run_folder / "metrics.json").read_text(encoding="utf-8"))["dev"]
    assert {name: figures[name] for name in dev} == dev
    assert f"{dev['accuracy']:.4f}" in done.stdout


def test_export_again_gives_a_bundle_that_answers_alike(run_folder, dev_file, tmp_path):
    shutil.copytree(run_folder, tmp_path / "moved")  # a run folder works from any place
    done = sample_run.run("export", "--run", str(tmp_path / "moved"), "--output", str(tmp_path / "bundle"))
    assert done.returncode == 0, done.stderr
    manifests = [
        json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        for folder in (tmp_path / "bundle", run_folder / "bundle")
    ]
    assert manifests[0]["parity"]["max_logit_difference"] <= 1e-5
    for name in ("decode", "text", "columns", "dev", "step"):
        assert manifests[0][name] == manifests[1][name]


def test_a_terminal_of_another_encoding_costs_no_result(run_folder, tmp_path):
    shutil.copytree(run_folder, tmp_path / "run")
    settings = json.loads((tmp_path / "run" / "best" / "ernie_pp.json").read_text(encoding="utf-8"))
    settings["decode"]["labels"] = ["差评", "好评"]
    (tmp_path / "run" / "best" / "ernie_pp.json").write_text(json.dumps(settings), encoding="utf-8")
    words = ("evaluate", "--run", str(tmp_path / "run"), "--data", str(run_folder.parent / "dev.jsonl"))
    done = sample_run.run(*words, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert r"\u5dee\u8bc4" in done.stdout


def test_two_runs_in_one_folder_do_not_mix(tmp_path):
    config = sample_run.write_sample(tmp_path)
    words = sample_run.command("--config", str(config), "train.epochs=100000", module="ernie_pp.tasks.cls")
    first = subprocess.Popen(words, stderr=subprocess.DEVNULL, env=sample_run.environment())

    def second():
        if not (tmp_path / "run" / "best").is_dir():
            return False
        done = sample_run.train(config, "overwrite=true")
        assert done.returncode == 1
        assert "another run is training in this folder" in done.stderr
        return True

    sample_run.stop_when(first, second, signal.SIGTERM)
    assert (tmp_path / "run" / "best").is_dir(), "the first run lost nothing"
