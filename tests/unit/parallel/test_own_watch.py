"""A rank that no launcher of ours watches ends itself when it makes no progress."""

import subprocess
import sys

import sample_run

RANK = """
import sys, time
from ernie_pp.parallel.beats import Beats, Phase
from ernie_pp.parallel.own_watch import watch_over
def never_comes():
    time.sleep(60)
beats = Beats()
watch_over(beats, rank=3, stall_s=0.5)
beats.begin(Phase[sys.argv[1]])
for step in range(1, 5):
    time.sleep(0.4)
    beats.end_step(step)
if sys.argv[1] == "TRAIN":
    never_comes()
time.sleep(3)
"""


def _run(phase):
    words = [sys.executable, "-c", RANK, phase]
    return subprocess.run(words, capture_output=True, text=True, env=sample_run.environment(), timeout=30)


def test_a_rank_that_hangs_says_so_with_its_stacks_and_ends_with_124():
    done = _run("TRAIN")
    assert done.returncode == 124
    assert "in never_comes\n" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("rank 3: no progress for ")
    assert "after step 4 (stop.stall_s); it ends itself" in done.stderr


def test_a_rank_that_is_past_its_training_may_take_its_time():
    assert _run("FINISH").returncode == 0
