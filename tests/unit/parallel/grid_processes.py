"""Starts the ranks of grid_rank.py and compares what they got."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from ernie_pp.parallel.launcher.environment import Wiring, rank_environment
from ernie_pp.parallel.ports import reserved_ports

ROOT = Path(__file__).resolve().parents[3]
PLAIN = {"num_layers": 4, "num_steps": 5, "rows": [3, 3, 2, 3, 2, 3, 3, 1]}


def run_grid(
    folder: Path, cases: dict[str, dict], *, stages: int = 1, replicas: int = 1, rank_order: str = "fleet"
) -> dict[str, dict[str, np.ndarray]]:
    """What rank 0 got in each case; all ranks must end well."""
    spec = {"stages": stages, "replicas": replicas, "rank_order": rank_order, "cases": cases}
    path, num_ranks = folder / f"{stages}x{replicas}{rank_order}.json", stages * replicas
    path.write_text(json.dumps(spec))
    with reserved_ports(num_ranks + 2) as ports, ExitStack() as stack:
        wiring = Wiring(num_ranks, ports, nonce="test", parent=os.getpid(), records=folder, threads=1)
        ranks = [_start(stack, path, wiring, rank=rank) for rank in range(num_ranks)]
        for rank, process in enumerate(ranks):
            code = process.wait(timeout=120)
            assert code == 0, Path(f"{path}.{rank}.log").read_text()
    arrays = np.load(f"{path}.0.npz")
    return {
        case: {key.removeprefix(f"{case}/"): arrays[key] for key in arrays if key.startswith(f"{case}/")}
        for case in cases
    }


def _start(stack: ExitStack, path: Path, wiring: Wiring, *, rank: int) -> subprocess.Popen:
    log = stack.enter_context(Path(f"{path}.{rank}.log").open("w"))  # noqa: SIM115 (in the stack)
    words = [sys.executable, "-m", "tests.unit.parallel.grid_rank", str(path)]
    environment = rank_environment({**os.environ, "PYTHONPATH": str(ROOT), "GLOG_minloglevel": "2"}, wiring, rank=rank)
    process = stack.enter_context(subprocess.Popen(words, cwd=ROOT, env=environment, stdout=log, stderr=log))
    stack.callback(process.kill)
    return process


def largest_difference(expected: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> float:
    """Over all arrays, relative to the largest value of each.

    The keys' biases are left out: softmax does not see them, their gradient is rounding alone, and Adam makes it large.
    """
    assert expected.keys() == found.keys()
    worst = 0.0
    for name in expected.keys() - {name for name in expected if name.endswith("k_proj.bias")}:
        largest = max(float(np.abs(expected[name]).max()), 1e-12)
        worst = max(worst, float(np.abs(expected[name].astype("f8") - found[name]).max()) / largest)
    return worst
