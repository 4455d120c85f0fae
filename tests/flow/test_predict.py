"""`ernie-pp predict` and the Predictor: the run's own answers, in every format, in order, nothing of the user lost."""

import csv
import io
import json
import os
import subprocess
import time

import pytest
import sample_run

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows


def _predict(bundle, *words, given=b"", **extra):
    return sample_run.run("predict", "--bundle", str(bundle), *words, given=given, **extra)


def _assert_answers(rows, expected):
    assert [row["prediction"] for row in rows] == [row["prediction"] for row in expected]
    for row, other in zip(rows, expected, strict=True):
        assert row["probabilities"] == pytest.approx(other["probabilities"], abs=1e-5)


def _as_table(rows, delimiter):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["id", "text", "渠道"])
    writer.writerows([row["id"], row["text"], row["来源"]["渠道"]] for row in rows)
    return stream.getvalue()


def test_jsonl_gives_the_runs_answers_and_keeps_all_fields(run_bundle, dev_file, dev_predictions, tmp_path):
    output = tmp_path / "answers.jsonl"
    done = _predict(run_bundle, "--input", str(dev_file), "--output", str(output))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    rows = sample_run.read_jsonl(output)
    _assert_answers(rows, dev_predictions)
    kept = [{name: value for name, value in row.items() if name not in ("prediction", "probabilities")} for row in rows]
    assert kept == sample_run.read_jsonl(dev_file)


@pytest.mark.parametrize("ending, delimiter", [("csv", ","), ("tsv", "\t")])
def test_tables_come_back_as_tables(run_bundle, dev_file, dev_predictions, tmp_path, ending, delimiter):
    rows = sample_run.read_jsonl(dev_file)
    source, output = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    source.write_text(_as_table(rows, delimiter), encoding="utf-8")
    assert _predict(run_bundle, "--input", str(source), "--output", str(output)).returncode == 0
    answers = [dict(row.fields) for row in read_rows(output, settings=ReadSettings(), faults=Faults())]
    assert list(answers[0]) == ["id", "text", "渠道", "prediction", "probabilities"]
    assert [row["id"] for row in answers] == [str(row["id"]) for row in rows]
    answers = [{**row, "probabilities": json.loads(row["probabilities"])} for row in answers]
    _assert_answers(answers, dev_predictions)


def test_json_array_from_stdin_goes_to_stdout(run_bundle, dev_file, dev_predictions):
    array = json.dumps(sample_run.read_jsonl(dev_file), ensure_ascii=False, indent=1).encode()
    done = _predict(run_bundle, "--input", "-")  # nothing given: an empty input
    assert done.returncode == 3 and "standard input" in done.stderr and done.stdout == ""
    done = _predict(run_bundle, "--input", "-", "--format", "json", given=array)
    assert done.returncode == 0, done.stderr
    _assert_answers([json.loads(line) for line in done.stdout.splitlines()], dev_predictions)


def test_columns_by_name_and_by_number(run_bundle, dev_file, dev_predictions, tmp_path):
    rows = sample_run.read_jsonl(dev_file)
    named, bare = tmp_path / "named.csv", tmp_path / "bare.tsv"
    named.write_text("评论\n" + "".join(f'"{row["text"]}"\n' for row in rows), encoding="utf-8-sig", newline="\r\n")
    bare.write_text("".join(f"{row['id']}\t{row['text']}\n" for row in rows), encoding="utf-8")
    for words in (("--input", str(named), "--text-column", "评论"), ("--input", str(bare), "--text-column", "1")):
        extra = ("--no-header",) if words[1].endswith("tsv") else ()
        done = _predict(run_bundle, *words, *extra)
        assert done.returncode == 0, done.stderr
        _assert_answers([json.loads(line) for line in done.stdout.splitlines()], dev_predictions)


def test_the_plain_way_to_paddle_gives_the_same_bytes(run_bundle, dev_file):
    short, plain = (
        _predict(run_bundle, "--input", str(dev_file), **extra) for extra in ({}, {"ERNIE_PP_PLAIN_PADDLE": "1"})
    )
    assert short.returncode == plain.returncode == 0
    assert short.stdout == plain.stdout


def test_predictor_answers_without_paddlenlp_and_leaves_paddle_importable(run_bundle, dev_predictions):
    code = """
import json, sys
from ernie_pp.serving import Predictor
predictor = Predictor(sys.argv[1], threads=1)
rows = [[answer.labels[0], answer.probabilities] for answer in predictor(json.load(sys.stdin))]
heavy = ("paddle", "paddlenlp", "pydantic", "sklearn")
loaded = {".".join(name.split(".")[:3]) for name in sys.modules if name.split(".")[0] in heavy}
import paddle
assert float(paddle.ones([2, 2]).matmul(paddle.ones([2, 2])).sum()) == 8.0
again = predictor(["房间很干净"])[0].labels
print(json.dumps([rows, sorted(loaded), "paddlenlp" in sys.modules, again]))
"""
    texts = json.dumps([row["text"] for row in dev_predictions]).encode()
    command = [*sample_run.command()[:1], "-c", code, str(run_bundle)]
    done = subprocess.run(command, input=texts, capture_output=True, env=sample_run.environment(), timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    rows, loaded, has_paddlenlp, again = json.loads(done.stdout)
    assert loaded == ["paddle.base.libpaddle"] and not has_paddlenlp
    assert again == ["1"]
    _assert_answers([{"prediction": label, "probabilities": table} for label, table in rows], dev_predictions)


BAD_LINES = ['{"text": "房间很干净"}', '{"text": "  "}', '{"text": 3}', '{"txt": "早餐"}', "{", '{"text": "太差了"}']


def test_a_bad_row_stops_with_its_line_and_no_output(run_bundle, tmp_path):
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n".join(BAD_LINES) + "\n", encoding="utf-8")
    output.write_text("old\n", encoding="utf-8")
    done = _predict(run_bundle, "--input", str(source), "--output", str(output))
    assert done.returncode == 3
    for line in (2, 3, 4, 5):
        assert f"in.jsonl line {line}" in done.stderr
    assert output.read_text(encoding="utf-8") == "old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_skipped_rows_are_named_and_the_others_answered(run_bundle, tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(BAD_LINES) + "\n", encoding="utf-8")
    done = _predict(run_bundle, "--input", str(source), "--on-error", "skip")
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == ["房间很干净", "太差了"]
    assert "2 rows predicted, 4 left out" in done.stderr
    assert all(f"in.jsonl line {line}" in done.stderr for line in (2, 3, 4, 5))


@pytest.mark.parametrize(
    "words, code, message",
    [
        (("--output", "nowhere/out.jsonl"), 2, "the folder nowhere is not there"),
        (("--output", "."), 1, "it is a folder"),
        (("--output", "/proc/out.jsonl"), 1, "cannot be written"),
        (("--pair-column", "b"), 2, "trained on single texts"),
        (("--text-column", "txet"), 3, 'Did you mean "text"?'),
        (("--batch-tokens", "0"), 2, "expected a whole number above 0"),
    ],
)
def test_wrong_words_are_told(run_bundle, dev_file, words, code, message):
    done = _predict(run_bundle, "--input", str(dev_file), *words)
    assert done.returncode == code, done.stderr
    assert message in done.stderr and "Traceback" not in done.stderr


def test_a_field_that_the_answer_would_replace_stops(run_bundle, tmp_path):
    source = sample_run.write_jsonl(tmp_path / "in.jsonl", [{"text": "房间", "prediction": "我的"}])
    done = _predict(run_bundle, "--input", str(source))
    assert done.returncode == 3
    assert "in.jsonl line 1" in done.stderr and "'prediction'" in done.stderr


def test_a_device_is_written_to_and_not_replaced(run_bundle):
    done = _predict(run_bundle, "--text", "房间很干净", "--output", "/dev/stdout")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["text"] == "房间很干净"


def test_a_reader_that_goes_away_ends_predict_quietly(run_bundle, tmp_path):
    source = sample_run.write_jsonl(tmp_path / "in.jsonl", [{"text": "房间很干净" * 20}] * 5000)
    words = sample_run.command("predict", "--bundle", str(run_bundle), "--input", str(source))
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=sample_run.environment(), text=True
    )
    assert json.loads(process.stdout.readline())["text"] == "房间很干净" * 20
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(timeout=60) == 141
    assert "Traceback" not in errors and "Exception ignored" not in errors


def _peak_bytes(bundle, source):
    words = sample_run.command("predict", "--bundle", str(bundle), "--input", str(source), "--output", os.devnull)
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL, env=sample_run.environment())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * 1024


def test_memory_does_not_grow_with_the_file(run_bundle, tmp_path):
    row = {"text": "房间很干净，下次还来", "备注": "说明" * 150_000}
    small = sample_run.write_jsonl(tmp_path / "small.jsonl", [row] * 2)
    large = sample_run.write_jsonl(tmp_path / "large.jsonl", [row] * 100)
    many = sample_run.write_jsonl(tmp_path / "many.jsonl", [{"text": "太差了，不会再来"}] * 12_000)
    assert large.stat().st_size > 80 << 20
    peak = _peak_bytes(run_bundle, small)
    assert _peak_bytes(run_bundle, large) - peak < 40 << 20
    assert _peak_bytes(run_bundle, many) - peak < 40 << 20


def _best_of_three(*words, module="ernie_pp.cli"):
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        assert sample_run.run(*words, module=module).returncode == 0
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def test_help_answers_in_half_a_second():
    assert _best_of_three("--help") < 0.5
    assert _best_of_three("--help", module="ernie_pp.tasks.cls") < 0.5


def test_one_sentence_is_answered_in_three_seconds(run_bundle):
    assert _best_of_three("predict", "--bundle", str(run_bundle), "--text", "房间很干净") < 3.0
