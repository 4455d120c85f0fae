"""Predicting files in this process: chunks, limits, words without effect."""

import dataclasses
import json
import shutil

import pytest
import sample_run

from ernie_pp.errors import ConfigError, DataError, ErniePPError
from ernie_pp.jobs import predict
from ernie_pp.jobs.predict import predict_file
from ernie_pp.jobs.predict_words import PredictOptions

OPTIONS = PredictOptions(
    bundle="",
    input=None,
    text=None,
    document=None,
    question=None,
    output="",
    format="auto",
    output_format="auto",
    text_column=None,
    pair_column=None,
    header=None,
    quoting=None,
    split=None,
    on_error="stop",
    batch_tokens=4096,
    threads=1,
    math="auto",
)


@pytest.fixture
def answer(small_run, tmp_path):
    """Rows of the output for rows of the input."""

    def predicted(rows, *, bundle=None, **changes):
        source = sample_run.write_jsonl(tmp_path / "in.jsonl", rows)
        words = {
            "bundle": str(bundle or small_run / "bundle"),
            "input": str(source),
            "output": str(tmp_path / "out.jsonl"),
        }
        predict_file(dataclasses.replace(OPTIONS, **{**words, **changes}))
        return sample_run.read_jsonl(tmp_path / "out.jsonl")

    return predicted


def _rows(num_rows):
    return [{"text": "房间很干净" * (1 + number % 7), "n": number} for number in range(num_rows)]


@pytest.mark.parametrize("rows_at_once, characters", [(1, 10**6), (7, 10**6), (1000, 40)])
def test_the_size_of_chunks_changes_nothing(answer, monkeypatch, rows_at_once, characters):
    whole = answer(_rows(50))
    monkeypatch.setattr(predict, "CHUNK_ROWS", rows_at_once)
    monkeypatch.setattr(predict, "CHUNK_CHARACTERS", characters)
    parts = answer(_rows(50))
    assert [row["n"] for row in parts] == list(range(50))
    for part, row in zip(parts, whole, strict=True):
        assert part["probabilities"] == pytest.approx(row["probabilities"], abs=1e-5)


def test_a_bad_row_stops_before_later_chunks_are_read(answer, monkeypatch):
    monkeypatch.setattr(predict, "CHUNK_ROWS", 10)
    rows = _rows(200)
    rows[13]["text"] = rows[17]["text"] = rows[150]["text"] = ""
    with pytest.raises(DataError) as caught:
        answer(rows)
    assert "in.jsonl line 14" in str(caught.value) and "in.jsonl line 18" in str(caught.value)
    assert "line 151" not in str(caught.value)


@pytest.fixture
def strict_bundle(small_run, tmp_path):
    """A bundle of a model whose config refuses long texts."""
    folder = tmp_path / "strict"
    config = sample_run.write_sample(folder)
    sample_run.train_here(config, "text.truncate=error", "train.max_steps=2")
    return shutil.copytree(folder / "run" / "bundle", tmp_path / "bundle")


def test_texts_over_a_refusing_limit_are_named_or_left_out(answer, strict_bundle):
    rows = [{"text": "好"}, {"text": "好" * 31}, {"text": "好" * 30}]
    with pytest.raises(DataError, match=r'in\.jsonl line 2\n  text: found "33 tokens", expected at most 32 tokens \(t'):
        answer(rows, bundle=strict_bundle)
    assert [len(row["text"]) for row in answer(rows, bundle=strict_bundle, on_error="skip")] == [1, 30]


def test_the_length_fault_names_the_column_that_was_read(answer, strict_bundle):
    with pytest.raises(DataError, match=r"in\.jsonl line 1\n  评论: found"):
        answer([{"评论": "好" * 31}], bundle=strict_bundle, text_column="评论")


@pytest.fixture
def table_bundle(tmp_path):
    """A bundle of a model trained on TSV files without a header whose fields stand in quotes."""
    folder = tmp_path / "table"
    config = sample_run.write_sample(folder)
    for name in ("train", "dev"):
        rows = sample_run.read_jsonl(folder / f"{name}.jsonl")
        text = "".join(f'"{row["text"]}"\t{row["label"]}\n' for row in rows)
        (folder / f"{name}.tsv").write_text(text, encoding="utf-8")
    words = [f"data.train={folder}/train.tsv", f"data.dev={folder}/dev.tsv", "data.text=0", "data.label=1"]
    sample_run.train_here(config, *words, "data.header=false", "data.quoting=double", "train.max_steps=2")
    return folder / "run" / "bundle"


def test_a_table_is_read_as_in_training_unless_told_otherwise(answer, table_bundle, tmp_path):
    source = tmp_path / "a.tsv"
    source.write_text('"房间""净"""\t1\n', encoding="utf-8")
    (row,) = answer([], bundle=table_bundle, input=str(source))
    assert row["0"] == '房间"净"'
    (row,) = answer([], bundle=table_bundle, input=str(source), quoting="none")
    assert row["0"] == '"房间""净"""'
    source.write_text("文\t号\n房间\t1\n", encoding="utf-8")
    (row,) = answer([], bundle=table_bundle, input=str(source), header=True, text_column="文")
    assert row["文"] == "房间"


def test_any_split_of_a_dataset_is_read(answer, tmp_path):
    datasets = pytest.importorskip("datasets")
    splits = {name: datasets.Dataset.from_dict({"text": [f"{name} 房间"]}) for name in ("train", "test")}
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "saved")
    assert [row["text"] for row in answer([], input=f"datasets:{tmp_path / 'saved'}")] == ["train 房间"]
    assert [row["text"] for row in answer([], input=str(tmp_path / "saved"), split="test")] == ["test 房间"]


def test_given_texts_need_no_file(answer, tmp_path):
    rows = answer([], input=None, text=["好", "太差了"])
    assert [row["text"] for row in rows] == ["好", "太差了"]


@pytest.mark.parametrize(
    "changes, match",
    [
        ({"text": ["好"], "input": None, "text_column": "a"}, "--text-column\n  has no effect on --text"),
        ({"text": ["好"], "input": None, "format": "tsv"}, "--format\n  has no effect on --text"),
        ({"text": ["好"], "input": None, "header": False}, "--no-header\n  has no effect on --text"),
        ({"text": ["好"], "input": None, "split": "dev"}, "--split\n  has no effect on --text"),
        ({"text": ["好"], "input": None, "on_error": "skip"}, "--on-error\n  has no effect on --text"),
        ({"header": False}, r"--no-header\n  has no effect on .*in\.jsonl"),
        ({"header": True}, r"--header\n  has no effect on .*in\.jsonl: it is about TSV and CSV"),
        ({"quoting": "none"}, r"--quoting\n  has no effect on .*in\.jsonl"),
        ({"split": "dev"}, r"--split\n  has no effect on .*in\.jsonl: only a datasets: source"),
        ({"pair_column": "b"}, "--pair-column\n  has no effect: .* single texts"),
    ],
)
def test_words_without_effect_are_refused(answer, changes, match):
    with pytest.raises(ConfigError, match=match):
        answer(_rows(1), **changes)


@pytest.mark.parametrize("name, content", [("rows", b'{"text": "a"}'), ("rows.json", b'[{"text": "a"}]')])
def test_words_about_tables_are_refused_when_the_rows_turn_out_to_be_json(answer, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=r"--no-header\n  has no effect on .*: it is about TSV and CSV"):
        answer([], input=str(tmp_path / name), header=False)


def test_a_format_is_refused_for_a_saved_dataset(answer, tmp_path):
    (tmp_path / "saved").mkdir()
    with pytest.raises(ConfigError, match=r"--format\n  is tsv, and .*saved is read by datasets"):
        answer([], input=str(tmp_path / "saved"), format="tsv")


@pytest.mark.parametrize(
    "name, content, advice",
    [
        ("a.jsonl", '{"text": ""}\n{"text": ""}\n', "or give --on-error skip."),
        ("a.tsv", 'text\n"a\n', "--quoting none reads quotes as text"),
        ("a.tsv", "a\tb\nc\td\n", "--no-header"),
        ("a.dat", "x\n", "--format\n  is auto, and"),
    ],
)
def test_advice_names_words_that_predict_has(answer, tmp_path, name, content, advice):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ErniePPError) as caught:
        answer([], input=str(tmp_path / name), quoting="double" if '"a' in content and name == "a.tsv" else None)
    assert advice in str(caught.value) and "data." not in str(caught.value).replace(str(tmp_path), "")


def test_one_row_is_one_row(answer, caplog):
    caplog.set_level("INFO", "ernie_pp")
    answer(_rows(1))
    assert "1 row predicted, 0 left out" in caplog.text


def test_fields_of_any_kind_come_back(answer):
    row = {"text": "好", "数": 12345678901234567890123, "小数": 0.1, "空": None, "表": [1, {"a": "\u2028"}], "真": True}
    (found,) = answer([row])
    assert {name: found[name] for name in row} == row
    assert json.dumps(found["probabilities"]) == json.dumps(dict(sorted(found["probabilities"].items())))
