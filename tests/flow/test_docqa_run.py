"""Questions to documents from a config to a bundle, in one process and in grids."""

import json
import subprocess
import sys

import numpy as np
import pytest
import question_run
import sample_run

from ernie_pp.config import load_config
from ernie_pp.data.faults import Faults
from ernie_pp.jobs.evaluate import evaluate_run
from ernie_pp.jobs.splits import SplitReader
from ernie_pp.jobs.trained import open_trained
from ernie_pp.models.ernie import load_stack
from ernie_pp.serving import Predictor
from ernie_pp.tasks.docqa.task import Task
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.training.answers import Pass, compute_answers
from ernie_pp.training.build import build_forward


@pytest.fixture
def run(learned_questions):
    return learned_questions


def _metrics(run):
    return json.loads((run / "metrics.json").read_text(encoding="utf-8"))


def test_32_questions_are_learned_by_heart(run):
    dev = _metrics(run)["dev"]
    assert dev["num_rows"] == 32
    assert dev["em"] == dev["f1"] == dev["has_answer_em"] == dev["no_answer_em"] == 1.0


def test_answers_are_the_users_own_text_at_its_place(run):
    texts = {one["id"]: one["context"] for one in question_run.documents(8, seed=1)}
    rows = sample_run.read_jsonl(run / "predictions.jsonl")
    for row in rows:
        for one in row["candidates"]:
            assert texts[row["document"]][one["start"] : one["end"]] == one["text"]
            assert one["text"] in one["clause"] and one["paragraph"] == 1
        assert row["answer"] in row["true_answers"]
    assert {row["kind"] for row in rows} == {"span", "none"}


def test_the_bundle_answers_300_questions_like_the_model(run, tmp_path):
    path = sample_run.write_jsonl(tmp_path / "others.jsonl", question_run.documents(75, seed=2))
    config, trained = load_config(run / "config.yaml"), open_trained(run / "best")
    task, tokenizer = Task.restore(config, trained.settings), Tokenizer.from_folder(run / "best")
    reader = SplitReader(config, task, tokenizer, Faults(on_error="stop"), tmp_path)
    split = reader.tokenize("others", str(path), reader.read_examples(str(path), dataset_split="test"))
    forward = build_forward(load_stack(run / "best", trained.head), config=config.train)
    how = Pass(config.train.micro_batch_tokens, tokenizer.pad_id, "others", task.condense)
    eager = task.decode(compute_answers(forward, split.rows, how), split, trained.decoding)
    answers = Predictor(run / "bundle", threads=1)(*task.texts(split.examples))
    assert len(answers) == len(eager) == 300
    for ours, theirs in zip(answers, eager, strict=True):
        assert (ours.kind, ours.given) == (theirs.kind, theirs.given)
        assert ours.answer is None or (ours.answer.start, ours.answer.end) == (theirs.answer.start, theirs.answer.end)
        np.testing.assert_allclose(ours.score, theirs.score, atol=1e-4)


def test_evaluate_gives_the_runs_figures(run):
    lines = evaluate_run(str(run), data=str(run.parent / "dev.jsonl")).splitlines()
    figures = {line.split()[0]: line.split()[1] for line in lines if len(line.split()) == 2}
    assert figures["em"] == figures["no_answer_em"] == "1.0000"
    assert any(line.startswith("characters of the document") for line in lines)


def test_a_text_file_is_asked_what_the_command_says(run, tmp_path):
    document = question_run.documents(8, seed=1)[0]
    path, output = tmp_path / "合同.txt", tmp_path / "answers.jsonl"
    path.write_text(document["context"], encoding="utf-8")
    asked = [one["question"] for one in document["qas"]]
    words = ("predict", "--bundle", str(run / "bundle"), "--document", str(path), "--question", *asked)
    done = sample_run.run(*words, "--output", str(output))
    assert done.returncode == 0, done.stderr
    rows = sample_run.read_jsonl(output)
    assert [row["question"] for row in rows] == asked
    true = [one["answers"][0]["text"] if one["answers"] else "" for one in document["qas"]]
    assert [row["answer"] for row in rows] == true


def test_a_review_writes_a_page_a_document(run, tmp_path):
    words = ("review", "--bundle", str(run / "bundle"), "--input", str(run.parent / "dev.jsonl"))
    done = sample_run.run(*words, "--output", str(tmp_path / "review"))
    assert done.returncode == 0, done.stderr
    assert "right: 32 of the 32 whose answer is known" in done.stdout
    assert len(list((tmp_path / "review" / "documents").iterdir())) == 8
    answers = json.loads((tmp_path / "review" / "answers.json").read_text(encoding="utf-8"))
    assert sum(len(one["questions"]) for one in answers) == 32


def test_the_report_shows_groups_and_baselines(run):
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "By characters of the answer (dev)" in page and "nearest_sentence" in page and "neighbourhood" in page


@pytest.mark.parametrize("grid", [(2, 1), (2, 2)])
def test_a_grid_gives_the_dev_figures_of_one_process(tmp_path, grid):
    documents = question_run.documents(8, seed=1)
    short = {"train": {"epochs": 8, "batch_size": 12}, "export": {"enabled": False}, "docqa": {"baseline": False}}
    config = question_run.write_questions(tmp_path, train=documents, dev=documents, changes=short)
    words = [f"parallel.stages={grid[0]}", f"parallel.replicas={grid[1]}"]
    done = question_run.train(config, *words, "parallel.micro_batches=3", f"output_dir={tmp_path / 'grid'}")
    assert done.returncode == 0, done.stderr
    sample_run.train_here(config)
    one, other = _metrics(tmp_path / "run")["dev"], _metrics(tmp_path / "grid")["dev"]
    assert (other["em"], other["f1"]) == (one["em"], one["f1"]) and one["f1"] > 0
    ours, theirs = (sample_run.read_jsonl(tmp_path / name / "predictions.jsonl") for name in ("run", "grid"))
    assert [row["answer"] for row in ours] == [row["answer"] for row in theirs]


def test_memory_does_not_grow_with_the_document(run):
    words = ("--bundle", str(run / "bundle"), "--characters", "180000", "300000", "--questions", "2", "--threads", "1")
    command = [sys.executable, str(sample_run.REPOSITORY / "tools" / "bench_questions.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=sample_run.environment(), timeout=120)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines()[2:]]
    windows, peaks = ([float(row[column]) for row in rows] for column in (2, 4))
    assert windows[1] > 1.6 * windows[0] > 7000
    # Parts of windows of full size have been computed for both: only their number differs.
    assert peaks[1] - peaks[0] < 60
