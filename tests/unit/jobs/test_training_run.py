"""Kinds of runs: what each setting changes in the run folder, and what stops a run before it costs anything."""

import json
import shutil

import numpy as np
import pytest
import sample_run
from sklearn import metrics as oracle

from ernie_pp.errors import ConfigError, DataError, ModelError
from ernie_pp.jobs import splits
from ernie_pp.serving import Predictor

QUICK = ("train.max_steps=2", "export.enabled=false")
TOPICS = {"房间": "卫生", "早餐": "餐饮", "服务员": "服务", "快递": "物流"}


def _metrics(folder):
    return json.loads((folder / "run" / "metrics.json").read_text(encoding="utf-8"))


def _log(folder, kind="train"):
    return [line for line in sample_run.read_jsonl(folder / "run" / "log.jsonl") if line["kind"] == kind]


def _losses(folder, *words):
    sample_run.train_here(
        sample_run.write_sample(folder), *words, "train.max_steps=5", "train.log_every=1", "export.enabled=false"
    )
    return [line["loss"] for line in _log(folder)]


@pytest.mark.parametrize(
    "words",
    [
        ("cls.class_weights=[1, 3]",),
        ("cls.loss=focal",),
        ("cls.label_smoothing=0.2",),
        ("train.fgm_epsilon=1.0",),
        ("train.rdrop_alpha=2.0",),
        ("train.layer_decay=0.5",),
        ("train.head_learning_rate=0.05",),
        ("train.schedule=cosine",),
        ("seed=7",),
    ],
    ids=lambda words: words[0],
)
def test_each_setting_changes_what_is_learnt(tmp_path, words):
    plain, changed = (
        _losses(tmp_path / "plain", "labels=[0, 1]"),
        _losses(tmp_path / "changed", "labels=[0, 1]", *words),
    )
    assert np.isfinite(changed).all()
    assert plain != changed


def test_balanced_weights_change_nothing_where_labels_are_balanced(tmp_path):
    plain, changed = _losses(tmp_path / "a"), _losses(tmp_path / "b", "cls.class_weights=balanced")
    assert plain == pytest.approx(changed, rel=1e-5)


def _topic_rows(join):
    rows = []
    for row in sample_run.review_rows():
        topic = next((name for word, name in TOPICS.items() if str(row["text"]).startswith(word)), None)
        labels = [name for name in (topic, "好评" if row["label"] else None) if name is not None]
        rows.append({"text": row["text"], "标签": join(labels)})
    return rows


@pytest.mark.parametrize("join, data", [(list, {}), ("|".join, {"label_separator": "|"})], ids=["list", "text"])
def test_multi_label_run_tunes_thresholds_and_answers_alike(tmp_path, join, data):
    sample_run.write_sample(tmp_path)
    rows = _topic_rows(join)
    sample_run.write_jsonl(tmp_path / "train.jsonl", rows)
    sample_run.write_jsonl(tmp_path / "dev.jsonl", rows[::3])
    data = {"train": "train.jsonl", "dev": "dev.jsonl", "label": "标签", **data}
    cls = {"multi_label": True, "threshold": "tuned_per_label"}
    sample_run.train_here(sample_run.write_config(tmp_path, {"data": data, "cls": cls}))
    predictions, figures = sample_run.read_jsonl(tmp_path / "run" / "predictions.jsonl"), _metrics(tmp_path)["dev"]
    names = sorted([*TOPICS.values(), "好评"])
    table = {kind: [[name in row[kind] for name in names] for row in predictions] for kind in ("label", "prediction")}
    true, given = np.array(table["label"]), np.array(table["prediction"])
    assert figures["micro_f1"] == pytest.approx(oracle.f1_score(true, given, average="micro"))
    assert figures["exact_match"] == pytest.approx(oracle.accuracy_score(true, given))
    assert any(row["label"] == [] for row in predictions), "a row may have no label"
    predictor = Predictor(tmp_path / "run" / "bundle", threads=1)
    assert len(set(predictor.decoding.thresholds)) > 1
    answers = predictor([row["text"] for row in predictions])
    assert [list(answer.labels) for answer in answers] == [row["prediction"] for row in predictions]


def test_one_threshold_for_all_labels_is_tuned_on_dev(tmp_path):
    sample_run.write_sample(tmp_path)
    rows = sample_run.write_jsonl(tmp_path / "train.jsonl", _topic_rows(list))
    data = {"train": str(rows), "dev": str(rows), "label": "标签"}
    config = sample_run.write_config(tmp_path, {"data": data, "cls": {"multi_label": True, "threshold": "tuned"}})
    sample_run.train_here(config, *QUICK)
    settings = json.loads((tmp_path / "run" / "best" / "ernie_pp.json").read_text(encoding="utf-8"))
    (threshold,) = set(settings["decode"]["thresholds"])
    assert 0 < threshold < 1 and threshold != 0.5
    predictions = sample_run.read_jsonl(tmp_path / "run" / "predictions.jsonl")
    for row in predictions:
        given = [name for name, value in row["probabilities"].items() if value >= threshold]
        assert row["prediction"] == given


def test_pairs_are_read_trained_and_answered_as_pairs(tmp_path):
    sample_run.write_sample(tmp_path)
    rows = [{"q": "房间怎么样", "a": row["text"], "label": row["label"]} for row in sample_run.review_rows()]
    sample_run.write_jsonl(tmp_path / "train.jsonl", rows)
    sample_run.write_jsonl(tmp_path / "dev.jsonl", rows[:9])
    data = {"train": "train.jsonl", "dev": "dev.jsonl", "text": "q", "text_pair": "a"}
    sample_run.train_here(sample_run.write_config(tmp_path, {"data": data}), "labels={0: 差评, 1: 好评}")
    predictions = sample_run.read_jsonl(tmp_path / "run" / "predictions.jsonl")
    assert [row["text_pair"] for row in predictions] == [row["a"] for row in rows[:9]]
    predictor = Predictor(tmp_path / "run" / "bundle", threads=1)
    answers = predictor([row["q"] for row in rows[:9]], [row["a"] for row in rows[:9]])
    assert [answer.labels[0] for answer in answers] == [row["prediction"] for row in predictions]
    assert {row["label"] for row in predictions} == {"差评", "好评"}
    assert len({answer.probabilities["好评"] for answer in answers}) > 5, "the second text counts"
    with pytest.raises(DataError, match="second text for each"):
        predictor(["房间怎么样"])
    with pytest.raises(DataError, match="1 came for 2"):
        predictor(["房间怎么样"] * 2, ["很好"])


def test_skipped_rows_are_listed_in_the_run_folder(tmp_path):
    config = sample_run.write_sample(tmp_path)
    with open(tmp_path / "train.jsonl", "a", encoding="utf-8") as file:
        file.write('{"text": "", "label": 1}\n{"text": "还行", "label": null}\nnot json\n')
    with open(tmp_path / "dev.jsonl", "a", encoding="utf-8") as file:
        file.write('{"text": "还行", "label": 11}\n')
    sample_run.train_here(config, *QUICK, "data.on_error=skip", "labels=[0, 1]")
    skipped = sample_run.read_jsonl(tmp_path / "run" / "skipped.jsonl")
    places = [(row["file"].rsplit("/", 1)[1], row["line"]) for row in skipped]
    assert places == [("train.jsonl", 49), ("train.jsonl", 50), ("train.jsonl", 51), ("dev.jsonl", 17)]
    assert all(set(row) == {"file", "line", "column", "value", "expected", "advice"} for row in skipped)
    assert _metrics(tmp_path)["dev"]["num_rows"] == 16
    sample_run.train_here(
        config, *QUICK, "overwrite=true", f"data.train={tmp_path / 'dev.jsonl'}", "data.on_error=skip"
    )
    assert not (tmp_path / "run" / "skipped.jsonl").exists(), "11 is a label of this run: nothing is left out"


@pytest.mark.parametrize("row", ['{"text": "", "label": 1}', '{"text": "还行", "label": 11}'], ids=["empty", "label"])
def test_a_split_without_a_usable_row_is_named_by_a_row_of_its_own(tmp_path, row):
    config = sample_run.write_sample(tmp_path)
    with open(tmp_path / "train.jsonl", "a", encoding="utf-8") as file:
        file.write('{"text": "", "label": 1}\n')
    (tmp_path / "dev.jsonl").write_text(row + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"dev\.jsonl line 1\n  no usable row is left"):
        sample_run.train_here(config, *QUICK, "data.on_error=skip", "labels=[0, 1]")


def test_a_text_over_a_refusing_limit_is_named_by_its_column(tmp_path):
    sample_run.write_sample(tmp_path)
    rows = [{"标题": row["text"], "label": row["label"]} for row in sample_run.review_rows()]
    sample_run.write_jsonl(tmp_path / "train.jsonl", rows)
    data = {"train": "train.jsonl", "dev": "train.jsonl", "text": "标题"}
    text = {"max_length": 20, "truncate": "error"}
    with pytest.raises(DataError, match='line 9\n  标题: found "'):
        sample_run.train_here(sample_run.write_config(tmp_path, {"data": data, "text": text}))


def test_tokens_of_another_tokenization_are_not_taken_from_the_cache(tmp_path, monkeypatch):
    config = sample_run.write_sample(tmp_path)
    sample_run.train_here(config, *QUICK)
    monkeypatch.setattr(splits, "TOKENIZATION_VERSION", "another")
    sample_run.train_here(config, *QUICK, "overwrite=true")
    assert len(list((tmp_path / "run" / "cache").iterdir())) == 4


def test_training_stops_early_without_a_better_evaluation(tmp_path):
    config = sample_run.write_sample(tmp_path)
    words = (
        "train.epochs=50",
        "train.eval_every=1",
        "train.patience=3",
        "train.learning_rate=1e-9",
        "train.log_every=2",
    )
    sample_run.train_here(config, *words, "export.enabled=false")
    assert [line["step"] for line in _log(tmp_path, "evaluate")] == [1, 2, 3, 4]
    assert _metrics(tmp_path)["best_step"] == 1
    assert [line["step"] for line in _log(tmp_path)] == [2, 4]


def test_best_metric_may_be_named(tmp_path):
    config = sample_run.write_sample(tmp_path)
    assert "dev:       macro_recall" in sample_run.train_here(config, *QUICK, "train.best_metric=macro_recall")


def _files(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "run.log"}


@pytest.mark.parametrize(
    "word, error, message",
    [
        ("data.train=nowhere.jsonl", DataError, "nowhere.jsonl"),
        ("data.label=none", DataError, r"train\.jsonl line 1\b"),
        ("train.best_metric=f1", ConfigError, "'f1'.*macro_f1"),
        ("model.path=nowhere", ModelError, "nowhere"),
        ("train.precision=bf16", ConfigError, "fp32"),
        ("train.micro_batch_tokens=8", ConfigError, "longest row has 25 tokens"),
        ("text.truncate=error text.max_length=20", DataError, r"train\.jsonl line 9\b(.|\n)*at most 20 tokens"),
    ],
)
def test_a_run_that_cannot_begin_costs_no_earlier_result(small_run, tmp_path, word, error, message):
    shutil.copytree(small_run.parent, tmp_path / "copy")
    config = sample_run.write_config(tmp_path / "copy")
    before = _files(tmp_path / "copy" / "run")
    with pytest.raises(error, match=message):
        sample_run.train_here(config, "overwrite=true", "device=cpu", *word.split())
    assert _files(tmp_path / "copy" / "run") == before


def test_a_run_that_failed_before_it_trained_needs_no_overwrite(tmp_path):
    config = sample_run.write_sample(tmp_path)
    with pytest.raises(DataError, match=r'Did you mean "train\.jsonl"'):
        sample_run.train_here(config, f"data.train={tmp_path / 'trian.jsonl'}")
    assert "dev:" in sample_run.train_here(config, *QUICK)


def test_all_faults_of_a_split_are_told_at_once(tmp_path):
    config = sample_run.write_sample(tmp_path)
    with open(tmp_path / "train.jsonl", "a", encoding="utf-8") as file:
        file.write('{"text": "\u200b", "label": 1}\n{"text": "还行", "label": null}\n{"text": "还行"}\n')
    with pytest.raises(DataError) as caught:
        sample_run.train_here(config)
    assert all(f"train.jsonl line {line}" in str(caught.value) for line in (49, 50, 51))


def test_a_label_that_is_not_known_names_the_nearest(tmp_path):
    config = sample_run.write_sample(tmp_path)
    with open(tmp_path / "dev.jsonl", "a", encoding="utf-8") as file:
        file.write('{"text": "还行", "label": 11}\n')
    with pytest.raises(DataError, match=r'dev\.jsonl line 17\n(.|\n)*found "11"(.|\n)*nearest: "1"'):
        sample_run.train_here(config)


def test_tokens_come_from_the_cache_the_second_time(tmp_path):
    config = sample_run.write_sample(tmp_path)
    sample_run.train_here(config, *QUICK)
    cached = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run" / "cache").iterdir()}
    assert len(cached) == 2
    sample_run.train_here(config, *QUICK, "overwrite=true")
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run" / "cache").iterdir()} == cached


def test_a_run_that_cannot_begin_keeps_the_earlier_log(small_run, tmp_path):
    shutil.copytree(small_run.parent, tmp_path / "copy")
    config, log = sample_run.write_config(tmp_path / "copy"), tmp_path / "copy" / "run" / "run.log"
    log.write_text("the earlier run\n", encoding="utf-8")
    with pytest.raises(DataError):
        sample_run.train_here(config, "overwrite=true", "data.train=nowhere.jsonl")
    assert log.read_text(encoding="utf-8") == "the earlier run\n"


def test_an_empty_output_dir_is_not_the_working_directory(tmp_path, monkeypatch):
    config = sample_run.write_sample(tmp_path)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(ConfigError, match="output_dir"):
        sample_run.train_here(config, "output_dir=", *QUICK)
    assert not list((tmp_path / "empty").iterdir())


def test_an_input_among_the_results_is_not_overwritten(small_run, tmp_path):
    shutil.copytree(small_run.parent, tmp_path / "copy")
    config, run = sample_run.write_config(tmp_path / "copy"), tmp_path / "copy" / "run"
    with pytest.raises(ConfigError, match=r"data\.train\n  is .*predictions\.jsonl"):
        sample_run.train_here(config, "overwrite=true", f"data.train={run / 'predictions.jsonl'}")
    with pytest.raises(ConfigError, match="--config"):
        sample_run.train_here(run / "config.yaml", "overwrite=true", f"output_dir={run}")
    assert (run / "predictions.jsonl").is_file() and (run / "best").is_dir()


def test_rows_that_are_in_train_too_are_told_before_the_training(tmp_path):
    config = sample_run.write_sample(tmp_path)
    with open(tmp_path / "dev.jsonl", "a", encoding="utf-8") as file:
        file.write((tmp_path / "train.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[0])
    sample_run.train_here(config, *QUICK)
    log = (tmp_path / "run" / "run.log").read_text(encoding="utf-8")
    assert "WARNING dev: 1 row (5.9 %) with a text or document that is in train too" in log


def test_a_missing_file_is_told_before_a_model_is_looked_for(tmp_path):
    config = sample_run.write_sample(tmp_path)
    with pytest.raises(DataError, match=r"nowhere\.jsonl"):
        sample_run.train_here(config, "model.path=nowhere", f"data.dev={tmp_path / 'nowhere.jsonl'}")


def test_a_saved_config_carries_no_leave_to_overwrite(tmp_path):
    config = sample_run.write_sample(tmp_path)
    sample_run.train_here(config, *QUICK, "overwrite=true")
    assert "overwrite: false" in (tmp_path / "run" / "config.yaml").read_text(encoding="utf-8")
