"""A run of two processes that is hit: the cause is told, its code returned, and nobody stays."""

import json
import os
import signal

import pytest
import sample_run
from grid_run import GridRun
from safetensors import safe_open

LONG = ("parallel.stages=2", "train.epochs=100000", "train.eval_every=3", "train.log_every=1")


def _started(tmp_path, **more):
    run = GridRun(sample_run.write_sample(tmp_path), *LONG, **more)
    run.wait_until((tmp_path / "run" / "best").is_dir)
    return run


def _assert_whole(best):
    assert json.loads((best / "ernie_pp.json").read_text(encoding="utf-8"))["step"] >= 3
    with safe_open(best / "model.safetensors", framework="numpy") as weights:
        assert {"classifier.weight", "ernie.embeddings.word_embeddings.weight"} <= set(weights.keys())


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_killed_in_training_ends_the_run_within_seconds(tmp_path, rank):
    run = _started(tmp_path)
    os.kill(run.pid_of(rank), signal.SIGKILL)
    errors, seconds = run.end()
    assert run.process.returncode == 137 and seconds < 10
    assert errors.splitlines()[-1].startswith(f"rank {rank} (stage {rank}, replica 0) was killed by SIGKILL")
    assert "Traceback" not in errors and "PeerLost" not in errors
    _assert_whole(tmp_path / "run" / "best")


def test_a_stop_signal_to_the_parent_ends_all_and_best_is_whole(tmp_path):
    run = _started(tmp_path)
    run.process.terminate()
    errors, seconds = run.end()
    assert run.process.returncode == 143 and seconds < 10
    assert errors.endswith("stopped by SIGTERM\n") and "Traceback" not in errors and errors.count("stopped by") == 1
    _assert_whole(tmp_path / "run" / "best")
    assert [path.name for path in (tmp_path / "run").rglob(".*")] == []


def test_a_killed_parent_leaves_no_rank(tmp_path):
    run = _started(tmp_path)
    run.process.kill()
    _, seconds = run.end()
    assert seconds < 5


# Loaded by Python itself in every process; breaks the second rank's tenth micro-batch.
BROKEN = """
import os
if os.environ.get("ERNIE_PP_RANK") == "1":
    from ernie_pp.data import batches
    build, left = batches.build_micro_batch, [None] * 9
    def broken(*words, **named):
        if not left:
            raise ValueError("boom in a micro-batch")
        left.pop()
        return build(*words, **named)
    batches.build_micro_batch = broken
"""


def test_a_rank_that_raises_has_its_traceback_on_the_screen_and_the_others_are_silent(tmp_path):
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "sitecustomize.py").write_text(BROKEN)
    run = GridRun(sample_run.write_sample(tmp_path), *LONG, path=str(tmp_path / "first"))
    errors, _ = run.end()
    assert run.process.returncode == 1
    _, told = errors.split("Traceback (most recent call last):")
    *_, cause, last = told.strip().splitlines()
    assert cause == "ValueError: boom in a micro-batch"
    assert last.startswith("rank 1 (stage 1, replica 0) failed first (exit code 1)")


def test_a_bad_row_is_one_message_with_its_own_code(tmp_path):
    config = sample_run.write_sample(tmp_path)
    with open(tmp_path / "train.jsonl", "a", encoding="utf-8") as file:
        file.write('{"text": "没有标签"}\n')
    run = GridRun(config, *LONG)
    errors, _ = run.end()
    assert run.process.returncode == 3
    *_, last = errors.strip().splitlines()
    assert last.startswith("rank 0 (stage 0, replica 0) failed first (exit code 3)")
    assert "train.jsonl line 49" in errors and "Traceback" not in errors and errors.count("Error") == 1
