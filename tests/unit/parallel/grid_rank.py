"""One rank of small training runs: `-m tests.unit.parallel.grid_rank SPEC.json RANK` writes SPEC.json.RANK.npz."""

import json
import os
import sys
from pathlib import Path

import numpy as np


def main(path: str, rank: int) -> None:
    """Run every case of the specification on its grid; the results of a case have its name before theirs."""
    spec = json.loads(Path(path).read_text())
    num_ranks = spec["stages"] * spec["replicas"]
    _set_variables(rank, num_ranks, spec["port"])
    from tests.unit.parallel import grid_job

    world = grid_job.join(spec, rank, num_ranks)
    results = {}
    for name, case in spec["cases"].items():
        results |= {f"{name}/{key}": value for key, value in grid_job.run(case, world).items()}
    world.control.meet()
    np.savez(f"{path}.{rank}.npz", **results)


def _set_variables(rank: int, num_ranks: int, port: int) -> None:
    endpoints = [f"127.0.0.1:{port + 1 + index}" for index in range(num_ranks)]
    os.environ.update(
        OMP_NUM_THREADS="1",
        PADDLE_MASTER=f"127.0.0.1:{port}",
        PADDLE_TRAINER_ID=str(rank),
        PADDLE_TRAINERS_NUM=str(num_ranks),
        PADDLE_TRAINER_ENDPOINTS=",".join(endpoints),
        PADDLE_CURRENT_ENDPOINT=endpoints[rank],
        PADDLE_DISTRI_BACKEND="gloo",
        GLOG_minloglevel="2",
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
