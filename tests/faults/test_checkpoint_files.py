"""Checkpoints in real processes that are killed at every moment, and on disks that fill up."""

import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest
import sample_run

from ernie_pp.parallel.ports import free_port
from ernie_pp.training.checkpoint.choose import choose_newest, list_steps
from ernie_pp.training.checkpoint.saved import open_checkpoint

# What the ranks of these tests have in common: a stage of two tensors whose every value is the step.
PARTS = """
import json, os, resource, signal, sys
from pathlib import Path
import numpy as np
from ernie_pp.errors import ErniePPError
from ernie_pp.parallel.control import open_star
from ernie_pp.parallel.engine import EngineState
from ernie_pp.parallel.topology import Grid
from ernie_pp.parallel.world import World
from ernie_pp.training.checkpoint.choose import choose_newest, list_steps
from ernie_pp.training.checkpoint.save import Checkpoints
from ernie_pp.training.checkpoint.saved import open_checkpoint

def state_of(stage, step, size):
    values = {f"stage{stage}.{name}": np.full(size, step, np.float32) for name in ("weight", "bias")}
    return EngineState(values, {f"{name}.moment1_0": value for name, value in values.items()}, {})

def check(folder, shapes):
    checkpoint = open_checkpoint(folder)
    checkpoint.check_names(shapes)
    values = {value for array in checkpoint.read_weights(shapes).values() for value in array}
    values |= {value for array in checkpoint.read_optimizer(shapes).values() for value in array}
    assert values == {checkpoint.manifest.step} == {checkpoint.trainer()["step"]}, (folder, values)
"""

# One process that is forked anew for each kill: loading Python each time would be nearly all there is to kill.
KILLED = (
    PARTS
    + """
import random, shutil, time
root, mode = Path(sys.argv[1]), sys.argv[2]
SHAPES = {"stage0.weight": (500,), "stage0.bias": (500,)}
EVENTS = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"}

def save(saving, step):
    return saving.save(step, state=state_of(0, step, 500), trainer={"step": step}, best_step=None)

def write(tell, kill_at):
    first = max((step for step, _ in list_steps(root)), default=0)
    saving, count = Checkpoints(root, world=World(), keep=1, identity={}), 0

    def watch(event, arguments):
        nonlocal count
        count += event in EVENTS
        if event in EVENTS and count == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    if kill_at:
        sys.addaudithook(watch)
    for step in range(first or 1, first + (2 if kill_at else 1000)):  # the first once more
        assert save(saving, step)
        os.write(tell, b"%d\\n" % step)

def kill_one(kill_at):
    read, tell = os.pipe()
    child = os.fork()
    if not child:
        try:
            write(tell, kill_at)
            os._exit(0)
        except BaseException as error:
            print(repr(error), flush=True)
        os._exit(1)
    os.close(tell)
    with open(read) as told:
        lines = []
        if not kill_at:
            lines.append(told.readline())
            time.sleep(random.uniform(0, 0.03))  # the moment is what is tested
            os.kill(child, signal.SIGKILL)
        lines += told.readlines()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    return code, [int(line) for line in lines if line.endswith("\\n")]

def look(acknowledged, before):
    leftovers = sum(path.name.startswith(".") for path in root.iterdir())
    Checkpoints(root, world=World(), keep=1, identity={})
    assert not [path for path in root.iterdir() if path.name.startswith(".")]
    for _, folder in list_steps(root):
        check(folder, SHAPES)
    choice = choose_newest(root)
    newest = choice.checkpoint.manifest.step if choice.checkpoint else 0
    assert not choice.refused and newest >= max(acknowledged, default=before), (acknowledged, before, newest)
    return leftovers, newest

root.mkdir()
random.seed(5)
commits = kills = left = newest = number = 0
while True:
    number += 1
    if mode == "each":  # from the same start, so that the operations are the same
        shutil.rmtree(root)
        root.mkdir()
        newest = 1
        assert save(Checkpoints(root, world=World(), keep=1, identity={}), newest)
    code, acknowledged = kill_one(number if mode == "each" else 0)
    leftovers, newest = look(acknowledged, newest)
    commits, kills, left = commits + len(acknowledged), kills + (code != 0), left + (leftovers > 0)
    if code == 0 or (mode == "any" and number == 60):
        break
print(json.dumps({"kills": kills, "commits": commits, "leftovers": left}))
"""
)


@pytest.mark.parametrize("mode", ["each", "any"])
def test_a_kill_at_each_change_of_the_disk_or_any_moment_leaves_whole_checkpoints_only(tmp_path, mode):
    """60 kills at random moments, and one at each file operation of two saves in turn (the first: a step again)."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "checkpoints"), mode],
        env=sample_run.environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout)
    assert counts["kills"] >= 40 and counts["commits"] >= 20 and counts["leftovers"] >= 10, counts


# Argument 1: {"rank", "grid", "address", "root", "size", "steps", "faults": {step: fault}}
RANK = (
    PARTS
    + """
spec = json.loads(sys.argv[1])
rank, root = spec["rank"], Path(spec["root"])
fault = None

class Faulty:
    # The way to the other ranks, with a fault at the moment between what rank 0 says and our files, or after them.
    def __init__(self, control):
        self.rank, self.num_ranks, self.control = control.rank, control.num_ranks, control
        self.num_gathered = 0

    def gather(self, value):
        self.num_gathered += 1
        if fault == "kill" and self.num_gathered % 2 == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.control.gather(value)

    def broadcast(self, value):
        said = self.control.broadcast(value)
        if self.num_gathered % 2:
            if fault == "fill":
                fill(root.parent / "ballast")
            elif fault == "limit":
                resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return said

def fill(path):
    try:
        with open(path, "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    except OSError:
        pass

star = open_star(rank, spec["grid"][0] * spec["grid"][1], address=spec["address"], nonce="n", limit_s=60)
world = World(Grid(*spec["grid"]), Faulty(star))
saving, outcomes = Checkpoints(root, world=world, keep=5, identity={}), []
for step in spec["steps"]:
    fault = spec["faults"].get(str(step))
    state = state_of(world.stage, step, spec["size"])
    try:
        outcomes.append(saving.save(step, state=state, trainer={"step": step}, best_step=None))
    except ErniePPError as error:
        outcomes.append([type(error).__name__, str(error)])
        break
print(json.dumps(outcomes))
"""
)


def _run_ranks(root, *, stages, steps, faults=None, size=100) -> list[Any]:
    """What each save gave on each rank, None for a rank that was killed; `faults` are {rank: {step: fault}}."""
    address, ranks = f"127.0.0.1:{free_port('127.0.0.1')}", []
    for rank in range(stages):
        spec = {"rank": rank, "grid": [stages, 1], "address": address, "root": str(root), "size": size, "steps": steps}
        spec["faults"] = (faults or {}).get(rank, {})
        words = [sys.executable, "-c", RANK, json.dumps(spec)]
        ranks.append(
            subprocess.Popen(
                words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=sample_run.environment()
            )
        )
    try:
        outputs = [rank.communicate(timeout=60) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    for rank, (_, errors) in zip(ranks, outputs, strict=True):
        assert rank.returncode in (0, -signal.SIGKILL), errors
    return [json.loads(output) if output else None for output, _ in outputs]


def _names(root):
    return sorted(path.name for path in root.iterdir())


@pytest.mark.parametrize("killed", [0, 1])
def test_a_rank_killed_between_its_file_and_the_manifest_leaves_the_step_before(tmp_path, killed):
    root = tmp_path / "checkpoints"
    results = _run_ranks(root, stages=2, steps=[1, 2], faults={killed: {2: "kill"}})
    assert results[killed] is None and results[1 - killed][0] is True
    assert results[1 - killed][1][0] == "PeerLost" and f"rank {killed}\n" in results[1 - killed][1][1]
    assert [step for step, _ in list_steps(root)] == [1]
    assert killed or any(name.startswith(".tmp-step-00000002") for name in _names(root))  # rank 0 cleans up otherwise
    choice = choose_newest(root)
    assert choice.checkpoint is not None and choice.checkpoint.manifest.step == 1 and not choice.refused
    assert _run_ranks(root, stages=2, steps=[2]) == [[True], [True]]
    assert _names(root) == ["step-00000001", "step-00000002"]


def _check_older_is_whole(root, steps):
    assert _names(root) == [f"step-{step:08d}" for step in steps]
    for step in steps:
        assert open_checkpoint(root / f"step-{step:08d}").manifest.step == step


def test_a_disk_that_fills_up_under_the_second_of_four_files_costs_the_save_only(mount_small_disk):
    small_disk = mount_small_disk("2m")
    root = small_disk / "checkpoints"
    results = _run_ranks(root, stages=4, steps=[1, 2, 3, 4], faults={1: {2: "fill"}}, size=5000)
    assert results[0] == results[1] == results[2] == results[3] and results[0][:2] == [True, False]
    kind, text = results[0][2]
    assert kind == "RunError" and "step 3 could not be written, and the one before it neither" in text
    _check_older_is_whole(root, [1])
    (small_disk / "ballast").unlink()
    assert _run_ranks(root, stages=4, steps=[3], size=5000) == [[True]] * 4
    _check_older_is_whole(root, [1, 3])


def test_one_rank_that_cannot_write_costs_the_save_and_the_second_time_ends_the_run(tmp_path):
    root = tmp_path / "checkpoints"
    faults = {1: {2: "limit", 4: "limit", 5: "limit"}}
    results = _run_ranks(root, stages=4, steps=[1, 2, 3, 4, 5, 6], faults=faults, size=5000)
    assert results[0] == results[1] == results[2] == results[3]
    assert results[0][:4] == [True, False, True, False]
    kind, text = results[0][4]
    assert kind == "RunError" and "rank 1: " in text and "model-00001.safetensors" in text and "File too large" in text
    _check_older_is_whole(root, [1, 3])


def test_a_flipped_bit_of_the_second_optimizer_file_is_refused_and_the_step_before_is_taken(tmp_path):
    root = tmp_path / "checkpoints"
    assert _run_ranks(root, stages=2, steps=[1, 2]) == [[True, True]] * 2
    path = root / "step-00000002" / "optimizer-00001.safetensors"
    content = bytearray(path.read_bytes())
    content[len(content) * 3 // 4] ^= 0x10
    path.write_bytes(content)
    choice = choose_newest(root)
    assert choice.checkpoint is not None and choice.checkpoint.manifest.step == 1
    assert [refusal.why for refusal in choice.refused] == [
        "optimizer-00001.safetensors: its sha256 differs from the one it was written with"
    ]
    assert os.path.samefile(choice.refused[0].folder, path.parent)
