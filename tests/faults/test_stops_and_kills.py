"""A run of two processes that is stopped or killed at random moments ends as one that never was."""

import json
import os
import random
import signal
import time

import long_run
import pytest
import sample_run
from grid_run import GridRun
from injection import write_injection

from ernie_pp.training.checkpoint.choose import choose_newest

# Enough to meet every kind of moment; `tools/soak.py` does as many as it is asked for.
NUM_STOPS, NUM_KILLS = 4, 8
EVERY_STEP = "checkpoint.every=1"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The run folder of a run that nobody touches."""
    folder = tmp_path_factory.mktemp("whole")
    long_run.finish(long_run.start(sample_run.write_sample(folder), "train.max_steps=110"))
    return folder / "run"


def _assert_same(found, whole):
    assert long_run.figures(found) == long_run.figures(whole)
    assert long_run.results(found) == long_run.results(whole)


def _wait_until_trained(run, folder, seconds):
    """Until the run has trained for so long beyond where it started; or has ended."""
    before = long_run.last_step(folder)
    while run.process.poll() is None and long_run.last_step(folder) == before:
        time.sleep(0.01)
    time.sleep(seconds)


def test_stopped_at_random_moments_it_loses_no_step(tmp_path, whole):
    config, folder, chance = sample_run.write_sample(tmp_path), tmp_path / "run", random.Random(1)
    codes, resumed = [], []
    for _ in range(NUM_STOPS):
        run = long_run.start(config, "train.max_steps=110")
        _wait_until_trained(run, folder, chance.uniform(0, 0.6))
        run.process.send_signal(chance.choice([signal.SIGTERM, signal.SIGHUP]))
        run.end()
        codes.append(run.process.returncode)
        newest = choose_newest(folder / "checkpoints")
        assert not newest.refused and newest.checkpoint.manifest.step == long_run.last_step(folder)
        resumed.append(newest.checkpoint.manifest.step)
    assert set(codes) == {143, 129} and resumed == sorted(set(resumed))
    errors = long_run.finish(long_run.start(config, "train.max_steps=110"))
    assert f"step-{resumed[-1]:08d}: {resumed[-1]} steps are done" in errors
    _assert_same(folder, whole)


def test_killed_at_random_moments_it_loses_nothing_that_was_saved(tmp_path, whole):
    config, folder, chance = sample_run.write_sample(tmp_path), tmp_path / "run", random.Random(2)
    for _ in range(NUM_KILLS):
        run = long_run.start(config, "train.max_steps=110", EVERY_STEP)
        run.wait_until(lambda run=run: run.has_rank(0) and run.has_rank(1))
        if chance.random() < 0.8:
            _wait_until_trained(run, folder, chance.uniform(0, 0.3))
        else:
            time.sleep(chance.uniform(0, 4))
        os.kill(run.pid_of(chance.randrange(2)), signal.SIGKILL)
        run.end()
        assert run.process.returncode == 137
        newest = choose_newest(folder / "checkpoints")
        step = newest.checkpoint.manifest.step if newest.checkpoint is not None else 0
        assert not newest.refused and step >= max(long_run.last_acknowledged(folder), long_run.last_step(folder) - 1)
    long_run.finish(long_run.start(config, "train.max_steps=110", EVERY_STEP))
    _assert_same(folder, whole)
    left = [path.name for path in (folder / "checkpoints").iterdir() if path.name.startswith(".")]
    assert left == []


# 40 s in rank 0 where the others wait for it: gloo by itself gives up after 30.
SLOW = {
    "saving": ("ernie_pp.training.checkpoint.finish", "finish"),
    "evaluating": ("ernie_pp.training.logits", "order_for_evaluation"),
    "making a batch": ("ernie_pp.training.position", "build_micro_batch"),
}
SLEEP = """
if RANK == "0":
    @after_import({module!r})
    def slow(module):
        import time
        original, left = module.{name}, [40.0]
        def slowly(*words, **named):
            time.sleep(left.pop() if left else 0)
            return original(*words, **named)
        module.{name} = slowly
"""


def test_a_rank_that_takes_longer_than_gloo_waits_ends_no_run(tmp_path):
    words = ("parallel.replicas=2", "train.max_steps=3", "train.eval_every=2", "export.enabled=false")
    runs = []
    for number, (module, name) in enumerate(SLOW.values()):
        folder = tmp_path / str(number)
        config = sample_run.write_sample(folder)
        path = write_injection(folder, SLEEP.format(module=module, name=name))
        runs.append((folder, time.monotonic(), GridRun(config, *words, path=path)))
    for folder, begin, run in runs:
        long_run.finish(run)
        assert time.monotonic() - begin > 40
        assert json.loads((folder / "run" / "metrics.json").read_text(encoding="utf-8"))["best_step"] >= 2
