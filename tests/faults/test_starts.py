"""Runs find their own ranks, every time, whatever other runs are about."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import sample_run

from ernie_pp.parallel.launcher.environment import Wiring, rank_environment
from ernie_pp.parallel.ports import reserved_ports
from ernie_pp.parallel.topology import Grid

SCRIPT = Path(__file__).with_name("start_rank.py")
SETTINGS = {"train.epochs": "3"}


class Starter:
    """Four processes that have loaded Paddle and start ranks as told."""

    def __init__(self, stack: ExitStack) -> None:
        words = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        environment = sample_run.environment(GLOG_minloglevel="2")
        self.processes = [subprocess.Popen([sys.executable, str(SCRIPT)], env=environment, **words) for _ in range(4)]
        for process in self.processes:
            stack.enter_context(process)
            stack.callback(process.kill)
        for process in self.processes:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"

    def start(self, runs: list[list[dict]]) -> list[list[dict]]:
        """The answers of the ranks of several runs, all started at once."""
        for start, jobs in enumerate(runs):
            for process, job in zip(self.processes, jobs, strict=False):
                assert process.stdin is not None
                words = {"start": start, "replicas": 1, "settings": SETTINGS, **job}
                process.stdin.write(json.dumps(words) + "\n")
                process.stdin.flush()
        answers: list[list[dict]] = [[] for _ in runs]
        for process, _ in zip(self.processes, runs[0], strict=False):
            assert process.stdout is not None
            for answer in sorted((json.loads(process.stdout.readline()) for _ in runs), key=lambda one: one["start"]):
                answers[answer["start"]].append(answer)
        return answers


@pytest.fixture(scope="module")
def starter():
    with ExitStack() as stack:
        yield Starter(stack)


@contextmanager
def _run(num_ranks: int, folder: Path, **preset: str):
    """The environments of a run's ranks, as our launcher makes them of the user's with `preset` in it."""
    base = sample_run.environment(GLOG_minloglevel="2", **preset)
    with reserved_ports(num_ranks + 2) as ports:
        wiring = Wiring(num_ranks, ports, nonce=str(ports), parent=os.getpid(), records=folder, threads=1)
        yield [rank_environment(base, wiring, rank=rank) for rank in range(num_ranks)]


@pytest.mark.parametrize("grid", [Grid(stages=2, replicas=2), Grid(stages=4)], ids=["2x2", "4x1"])
def test_a_grid_starts_every_time(starter, tmp_path, grid):
    job = {"stages": grid.stages, "replicas": grid.replicas}
    numbers = [10**rank for rank in range(4)]
    for _ in range(3):
        with ExitStack() as stack:
            runs = [stack.enter_context(_run(4, tmp_path)) for _ in range(5)]
            jobs = [
                [{**job, "environment": one, "number": number} for one, number in zip(run, numbers, strict=True)]
                for run in runs
            ]
            started = starter.start(jobs)
        assert [[answer["sums"] for answer in answers] for answers in started] == [_sums(grid, numbers)] * 5


def _sums(grid: Grid, numbers: list[int]) -> list[list[int]]:
    """By rank: over all, over the replicas of its stage, over the stages of its replica."""

    def over(place: Callable[[int], int], rank: int) -> int:
        return sum(number for other, number in enumerate(numbers) if place(other) == place(rank))

    return [[sum(numbers), over(grid.stage_of, rank), over(grid.replica_of, rank)] for rank in range(4)]


def test_two_runs_at_once_stay_apart_though_one_is_told_the_others_address(starter, tmp_path):
    pairs = []
    with ExitStack() as stack:
        for _ in range(10):
            first = stack.enter_context(_run(2, tmp_path))
            host, port = first[0]["PADDLE_MASTER"].split(":")
            stray = {"PADDLE_MASTER": f"{host}:{port}", "MASTER_ADDR": host, "MASTER_PORT": port}
            second = stack.enter_context(_run(2, tmp_path, **stray))
            numbered = [(one, 1) for one in first] + [(one, 10) for one in second]
            pairs.append([{"stages": 2, "environment": one, "number": number} for one, number in numbered])
        started = starter.start(pairs[:5]) + starter.start(pairs[5:])
    assert [[answer["sums"][0] for answer in answers] for answers in started] == [[2, 2, 20, 20]] * 10


def _of_another_launcher(master: str, ports: list[int]) -> list[dict[str, str]]:
    endpoints = [f"127.0.0.1:{port}" for port in ports]
    shared = {"PADDLE_MASTER": master, "PADDLE_TRAINERS_NUM": "2", "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints)}
    base = sample_run.environment(GLOG_minloglevel="2")
    return [
        {**base, **shared, "PADDLE_TRAINER_ID": str(rank), "PADDLE_CURRENT_ENDPOINT": endpoint}
        for rank, endpoint in enumerate(endpoints)
    ]


def test_ranks_of_two_runs_that_share_a_master_are_told_so_on_both_sides(starter):
    with reserved_ports(3) as (master, *own):
        one, other = _of_another_launcher(f"127.0.0.1:{master}", own)
        ours = {"stages": 2, "environment": one, "number": 1}
        grid = {"stages": 1, "replicas": 2}  # told before anything hangs for that
        theirs = {**grid, "environment": other, "number": 1, "settings": {"train.epochs": "5"}}
        (answers,) = starter.start([[ours, theirs]])
    for answer in answers:
        assert "rank 1\n  joined another run: its settings differ" in answer["error"]
        assert "train.epochs: 3 on rank 0, 5 there" in answer["error"]
