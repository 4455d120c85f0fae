"""One rank of small training runs: `-m tests.unit.parallel.grid_rank SPEC.json` writes SPEC.json.RANK.npz."""

import json
import os
import sys
from pathlib import Path

import numpy as np

from ernie_pp.parallel.place import find_place
from tests.unit.parallel import grid_job


def main(path: str) -> None:
    """Run every case of the specification on its grid; the results of a case have its name before theirs."""
    spec, place = json.loads(Path(path).read_text()), find_place(os.environ)
    world = grid_job.join(spec, place)
    results = {}
    for name, case in spec["cases"].items():
        results |= {f"{name}/{key}": value for key, value in grid_job.run(case, world).items()}
    world.control.meet()
    np.savez(f"{path}.{place.rank}.npz", **results)


if __name__ == "__main__":
    main(sys.argv[1])
