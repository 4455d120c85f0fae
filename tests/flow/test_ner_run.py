"""Named entities from a config to a bundle: every head, one process and grids."""

import json

import entity_run
import numpy as np
import pytest
import sample_run

from ernie_pp.jobs.evaluate import evaluate_run
from ernie_pp.serving import Predictor
from ernie_pp.tasks.ner.settings import DecodeSettings

HEADS = {
    "softmax": {"head": "softmax"},
    "crf": {"head": "crf", "scheme": "bioes"},
    "global_pointer": {"head": "global_pointer", "pointer_size": 16},
}


@pytest.fixture(scope="module", params=list(HEADS))
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    sample_run.train_here(entity_run.write_entities(folder, **HEADS[request.param]))
    return folder / "run"


def _metrics(run):
    return json.loads((run / "metrics.json").read_text(encoding="utf-8"))


def test_every_head_learns_and_its_predictions_are_the_users_own_text(run):
    assert _metrics(run)["dev"]["micro_f1"] > 0.9
    for row in sample_run.read_jsonl(run / "predictions.jsonl"):
        for entity in row["entities"]:
            assert row["text"][entity["start"] : entity["end"]] == entity["text"]
            assert 0 < entity["score"] <= 1


def test_the_bundle_answers_like_the_run(run):
    rows = sample_run.read_jsonl(run / "predictions.jsonl")
    answers = Predictor(run / "bundle", threads=1)([row["text"] for row in rows])
    for answer, row in zip(answers, rows, strict=True):
        found = answer.to_fields()["entities"]
        places = [[one[name] for name in ("start", "end", "label")] for one in found]
        assert places == [[one[name] for name in ("start", "end", "label")] for one in row["entities"]]
        scores = [one["score"] for one in found]
        np.testing.assert_allclose(scores, [one["score"] for one in row["entities"]], atol=1e-4)


def test_evaluate_gives_the_runs_figures(run):
    lines = evaluate_run(str(run), data=str(run.parent / "dev.jsonl")).splitlines()
    figures = {line.split()[0]: line.split()[1] for line in lines if len(line.split()) == 2}
    dev = _metrics(run)["dev"]
    assert figures["micro_f1"] == f"{dev['micro_f1']:.4f}" and figures["boundary_f1"] == f"{dev['boundary_f1']:.4f}"
    assert any(line.startswith("公司") for line in lines)


def test_the_report_shows_types_and_mistakes_by_kind(run):
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "By type (dev)" in page and "Mistakes by kind (dev)" in page and "longest match" in page


@pytest.mark.parametrize("head, grid", [("crf", (2, 1)), ("crf", (2, 2)), ("global_pointer", (2, 2))])
def test_a_grid_gives_the_dev_figures_of_one_process(tmp_path, head, grid):
    dropout = {"model": {"dropout": 0.0, **_sizes()}}
    short = {"train": {"epochs": 5, "batch_size": 12, "learning_rate": 5e-3}, "export": {"enabled": False}}
    config = entity_run.write_entities(tmp_path, {**dropout, **short}, **HEADS[head])
    words = [f"parallel.stages={grid[0]}", f"parallel.replicas={grid[1]}"]
    done = entity_run.train(config, *words, "parallel.micro_batches=3", f"output_dir={tmp_path / 'grid'}")
    assert done.returncode == 0, done.stderr
    sample_run.train_here(config, f"train.micro_batch_tokens={40 * 12 // (3 * grid[1])}")
    one, other = _metrics(tmp_path / "run"), _metrics(tmp_path / "grid")
    assert other["dev"]["micro_f1"] == one["dev"]["micro_f1"] > 0.1
    assert other["dev"]["per_type"] == one["dev"]["per_type"]


def _sizes():
    return {"sizes": {"vocab": "vocab.txt", "num_layers": 2, "hidden_size": 32, "num_heads": 2, "max_positions": 64}}


def test_a_bundle_of_a_crf_without_its_transitions_is_refused():
    with pytest.raises(ValueError, match="has no transitions"):
        DecodeSettings(("人",), "crf", "bio").check_output((1, 4, 3), 4)
