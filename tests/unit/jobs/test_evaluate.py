"""Measuring a finished run's model in this process."""

import json
import shutil
from pathlib import Path

import pytest
import sample_run

from ernie_pp.errors import ConfigError, DataError, RunError
from ernie_pp.jobs.evaluate import evaluate_run


@pytest.fixture
def run_folder(small_run, tmp_path):
    return shutil.copytree(small_run, tmp_path / "run")


@pytest.fixture
def dev(small_run):
    return str(small_run.parent / "dev.jsonl")


def test_figures_are_those_of_the_run(run_folder, dev, tmp_path):
    text = evaluate_run(str(run_folder), data=dev, output=str(tmp_path / "figures.json"))
    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    expected = json.loads((run_folder / "metrics.json").read_text(encoding="utf-8"))["dev"]
    assert figures == {"data": dev, **expected}
    assert f"accuracy             {expected['accuracy']:.4f}" in text and "95 % interval of accuracy" in text


def test_a_model_trained_in_bf16_on_a_gpu_is_measured_on_a_cpu(run_folder, dev):
    path = run_folder / "config.yaml"
    text = path.read_text(encoding="utf-8").replace("precision: fp32", "precision: bf16")
    path.write_text(text.replace("device: auto", "device: gpu"), encoding="utf-8")
    assert "accuracy" in evaluate_run(str(run_folder), data=dev, device="cpu")


def test_the_data_of_the_run_need_not_be_there_any_more(run_folder, dev, tmp_path):
    path = run_folder / "config.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("train.jsonl", "gone.jsonl"), encoding="utf-8")
    assert "accuracy" in evaluate_run(str(run_folder), data=dev)


def test_an_output_that_cannot_be_is_told_before_the_work(run_folder, tmp_path):
    with pytest.raises(RunError, match="there is no folder"):
        evaluate_run(str(run_folder), data="not even looked at", output=str(tmp_path / "none" / "a.json"))


def test_a_run_that_was_stopped_before_its_first_evaluation_is_told(run_folder, dev):
    shutil.rmtree(run_folder / "best")
    with pytest.raises(RunError, match="ended before its first evaluation"):
        evaluate_run(str(run_folder), data=dev)


@pytest.mark.parametrize(
    "rows, on_error, match",
    [
        ([], "stop", "at least one row"),
        ([{"text": "好"}], "stop", 'a field "label"'),
        ([{"text": "好", "label": 2}], "stop", r'line 1\n  label: found "2"'),
        ([{"text": "好", "label": 2}] * 2, "skip", r'line 1\n  no usable row is left; the first: label "2"'),
    ],
)
def test_rows_that_cannot_be_measured_are_named(run_folder, tmp_path, rows, on_error, match):
    path = run_folder / "config.yaml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("on_error: stop", f"on_error: {on_error}"), encoding="utf-8"
    )
    data = sample_run.write_jsonl(tmp_path / "data.jsonl", rows)
    with pytest.raises(DataError, match=match):
        evaluate_run(str(run_folder), data=str(data))


def test_a_gpu_that_is_not_there_is_told(run_folder, dev):
    import paddle

    if paddle.device.is_compiled_with_cuda():
        pytest.skip("this Paddle is built for GPUs")
    with pytest.raises(ConfigError, match="is the CPU wheel"):
        evaluate_run(str(run_folder), data=dev, device="gpu")


def test_a_split_of_a_dataset_is_measured_and_one_of_a_file_is_refused(run_folder, dev, tmp_path):
    import datasets

    rows = sample_run.read_jsonl(Path(dev))
    split = datasets.Dataset.from_list([{"text": row["text"], "label": row["label"]} for row in rows])
    datasets.DatasetDict({"mine": split, "test": split.select(range(4))}).save_to_disk(tmp_path / "saved")
    assert f"{len(rows)} rows" in evaluate_run(str(run_folder), data=str(tmp_path / "saved"), split="mine")
    assert "4 rows" in evaluate_run(str(run_folder), data=str(tmp_path / "saved"))
    with pytest.raises(ConfigError, match="--split\n  has no effect"):
        evaluate_run(str(run_folder), data=dev, split="mine")


def test_the_model_folder_says_how_rows_were_read(run_folder):
    settings = json.loads((run_folder / "best" / "ernie_pp.json").read_text(encoding="utf-8"))
    assert settings["columns"] == {"text": "text", "text_pair": None, "header": True, "quoting": "auto"}
