"""A run of two processes leaves what a run of one leaves: same files, same figures, same weights."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sample_run
from safetensors.numpy import load_file

GRIDS = {"2x1": "parallel.stages=2", "1x2": "parallel.replicas=2"}
# Dropout depends on how a step is cut into micro-batches, and each grid cuts it for itself.
WORDS = ("model.dropout=0.0", "train.max_steps=12", "train.learning_rate=1e-3", "train.micro_batch_tokens=128")


def _prepare(folder: Path) -> tuple[Path, list[str]]:
    return sample_run.write_sample(folder), [*WORDS, f"data.test={folder / 'train.jsonl'}"]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """One process's."""
    folder = tmp_path_factory.mktemp("one")
    config, words = _prepare(folder)
    sample_run.train_here(config, *words)
    return folder / "run"


@pytest.fixture(scope="module", params=GRIDS)
def grid_run(request, tmp_path_factory):
    """The same run in two processes: its folder, and the command."""
    folder = tmp_path_factory.mktemp("grid")
    config, words = _prepare(folder)
    done = sample_run.train(config, *words, GRIDS[request.param])
    assert done.returncode == 0, done.stderr
    return folder / "run", done


def _names(folder):
    inner = {"best": "*", "bundle": "*", "cache": "*", "vdl": ""}
    names = {path.name for path in folder.iterdir()}
    return names | {
        f"{name}/{path.name}" for name, glob in inner.items() if glob for path in (folder / name).glob(glob)
    }


def test_artefacts_and_figures_are_those_of_one_process(run_folder, grid_run):
    folder, done = grid_run
    assert _names(folder) - _names(run_folder) == {"ranks"} and _names(run_folder) <= _names(folder)
    ours, theirs = (json.loads((path / "metrics.json").read_text()) for path in (folder, run_folder))
    assert ours == theirs
    answers = [sample_run.read_jsonl(path / "predictions.jsonl") for path in (folder, run_folder)]
    assert [row["label"] for row in answers[0]] == [row["label"] for row in answers[1]]
    assert "bundle:" in done.stdout and done.stdout.count("dev:") == 1


def test_weights_and_losses_are_those_of_one_process(run_folder, grid_run):
    folder, _ = grid_run
    ours, theirs = (load_file(path / "best" / "model.safetensors") for path in (folder, run_folder))
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        # The true gradient of a key's bias is zero; Adam makes steps of its rounding.
        if not name.endswith("k_proj.bias"):
            np.testing.assert_allclose(ours[name], value, rtol=1e-4, atol=1e-5, err_msg=name)
    logs = [sample_run.read_jsonl(path / "log.jsonl") for path in (folder, run_folder)]
    losses = [[(line["step"], line["loss"]) for line in log if line["kind"] == "train"] for log in logs]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4, atol=1e-5)


def test_only_rank_0_writes_and_the_other_keeps_a_log(grid_run):
    folder, done = grid_run
    log = (folder / "ranks" / "rank-1.log").read_text(encoding="utf-8")
    assert "dev accuracy" in log and "bundle" not in log
    assert sorted(path.name for path in (folder / "ranks").iterdir()) == ["config.yaml", "rank-1.log"]
    assert done.stderr.count("training: 12 steps") == 1
    assert "training: 12 steps" in (folder / "run.log").read_text(encoding="utf-8")
    assert len(list((folder / "cache").iterdir())) == 2, "train is test here: two token files, made once"


SCRIPT = "import sys\nfrom ernie_pp.cli import main\nsys.exit(main())\n"


def test_under_paddles_launcher_a_run_joins_the_processes_that_are_there(tmp_path):
    config = sample_run.write_sample(tmp_path)
    script = tmp_path / "ernie-pp"  # as pip installs it
    script.write_text(f"#!{sys.executable}\n{SCRIPT}")
    script.chmod(0o755)
    launcher = [sys.executable, "-m", "paddle.distributed.launch", "--nproc_per_node", "2", "--log_dir"]
    words = [str(tmp_path / "log"), str(script), "train", "--config", str(config)]
    done = subprocess.run(
        [*launcher, *words, "parallel.stages=2", "train.max_steps=12", "export.enabled=false"],
        capture_output=True,
        text=True,
        env=sample_run.environment(),
        timeout=120,
    )
    logs = "".join(path.read_text(errors="replace") for path in sorted((tmp_path / "log").glob("workerlog.*")))
    assert done.returncode == 0, done.stdout + done.stderr + logs
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["best_step"] > 0
    assert not (tmp_path / "run" / "ranks").exists()


def test_a_grid_other_than_the_processes_that_are_there_is_told_before_paddle_is_loaded(tmp_path):
    config = sample_run.write_sample(tmp_path)
    endpoints = {"PADDLE_CURRENT_ENDPOINT": "127.0.0.1:6171", "PADDLE_TRAINER_ENDPOINTS": "127.0.0.1:6170"}
    done = sample_run.train(config, "parallel.stages=2", PADDLE_TRAINERS_NUM="3", PADDLE_TRAINER_ID="1", **endpoints)
    assert done.returncode == 2 and "2 x 1" in done.stderr and "3 were started (PADDLE_TRAINERS_NUM)" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_folder_in_which_another_grid_trains_is_refused(tmp_path):
    config = sample_run.write_sample(tmp_path)
    ranks = tmp_path / "run" / "ranks"
    ranks.mkdir(parents=True)
    (ranks / "rank-1.log").write_text("the other's")
    descriptor = os.open(ranks, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    done = sample_run.train(config, "parallel.stages=2")
    os.close(descriptor)
    assert done.returncode == 1 and "another run is training in this folder" in done.stderr
    assert (ranks / "rank-1.log").read_text() == "the other's"
