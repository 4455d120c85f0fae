"""What is wrong is told at once: exit code, place and advice, without a traceback, before Paddle is loaded."""

import json

import pytest
import sample_run

NO_PADDLE = """
import sys
class NoPaddle:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("paddle", "paddlenlp"):
            raise SystemExit("paddle was imported")
sys.meta_path.insert(0, NoPaddle())
"""


@pytest.fixture
def without_paddle(tmp_path):
    """Environment of a process in which importing Paddle is an error."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(NO_PADDLE, encoding="utf-8")
    return {"PYTHONPATH": f"{tmp_path / 'site'}:{sample_run.REPOSITORY}"}


def _assert_refused(done, code, *parts):
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""
    for part in parts:
        assert part in done.stderr


@pytest.mark.parametrize(
    "word, parts",
    [
        ("train.epoch=2", ["unknown key train.epoch", "did you mean train.epochs?"]),
        ("train.epochs=many", ["command line train.epochs=many", "train.epochs is 'many'"]),
        ("cls.threshold=0.4", ["cls.threshold has no effect"]),
        ("text.max_length=100", ["text.max_length 100 is over model.sizes.max_positions 64"]),
        ("train", ["is not key=value"]),
    ],
)
def test_config_errors_come_before_paddle(tmp_path, without_paddle, word, parts):
    done = sample_run.train(sample_run.write_sample(tmp_path), word, **without_paddle)
    _assert_refused(done, 2, *parts)
    assert not (tmp_path / "run").exists()


def test_missing_config_file_is_a_config_error(tmp_path, without_paddle):
    _assert_refused(sample_run.train(tmp_path / "none.yaml", **without_paddle), 2, "none.yaml")


def test_evaluate_and_export_name_what_is_no_run(tmp_path, without_paddle):
    done = sample_run.run("evaluate", "--run", str(tmp_path), "--data", "x.jsonl", **without_paddle)
    _assert_refused(done, 1, "is not a run folder")
    _assert_refused(sample_run.run("export", "--run", str(tmp_path), **without_paddle), 1, "is not a run folder")


def test_evaluate_names_rows_it_cannot_use(run_folder, tmp_path):
    data = sample_run.write_jsonl(tmp_path / "data.jsonl", [{"text": "还行", "label": "好"}])
    done = sample_run.run("evaluate", "--run", str(run_folder), "--data", str(data))
    _assert_refused(done, 3, "data.jsonl line 1", 'label: found "好"')


def test_export_does_not_replace_a_folder_that_is_no_bundle(run_folder, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").write_bytes(b"x")
    done = sample_run.run("export", "--run", str(run_folder), "--output", str(tmp_path / "photos"))
    _assert_refused(done, 1, "is not a bundle")
    assert (tmp_path / "photos" / "one.jpg").exists()


def test_keys_lists_every_setting_with_its_meaning():
    done = sample_run.run("train", "--keys")
    assert done.returncode == 0
    assert any(line.split()[0] == "train.learning_rate" for line in done.stdout.splitlines())


def test_doctor_tells_what_can_be_known_before_training(tmp_path):
    config = sample_run.write_sample(tmp_path)
    rows = sample_run.review_rows()
    odd = [rows[0], {**rows[1], "label": 1}, {"text": "龘" * 40, "label": 0}, rows[50]]
    sample_run.write_jsonl(tmp_path / "train.jsonl", [*rows[:48], *odd])
    done = sample_run.run("doctor", "--config", str(config), "text.max_length=16")
    assert done.returncode == 0, done.stderr
    found = {line.strip()[:18].strip(): line.strip()[18:].strip() for line in done.stdout.splitlines() if line}
    text = done.stdout
    assert found["cpu settings"].startswith("CPU ") and found["devices"].startswith("cpu")
    assert "train: " in text and "dev: " in text and not (tmp_path / "run").exists()
    train = text[text.index("train: ") : text.index("dev: ")]
    for line in ("rows               52", "labels             2: 1 27, 0 25", "duplicate texts    2"):
        assert line in train, train
    assert "conflicting texts  1 (the same text with other labels: lines 2 and 50)" in train
    assert "longest 42" in train and "over 16 tokens" in train
    assert "unknown tokens     0.0" not in train
    assert "dev                1 row (6.2 %)" in text
    assert "steps" in text and "memory, about" in text and "fits" in text


def test_doctor_lists_rows_that_would_be_left_out(tmp_path):
    config = sample_run.write_sample(tmp_path)
    with open(tmp_path / "train.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps({"text": " ", "label": 1}) + "\n")
    done = sample_run.run("doctor", "--config", str(config), "data.on_error=skip")
    assert done.returncode == 0, done.stderr
    assert "Bad rows left out" in done.stdout and "train.jsonl line 49: text" in done.stdout
    done = sample_run.run("doctor", "--config", str(config))
    assert done.returncode == 3 and "PROBLEM: " in done.stdout and "train.jsonl line 49" in done.stdout
