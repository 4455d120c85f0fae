"""A checkpoint of any grid of processes goes on under any other: same rows, same losses, same weights."""

import numpy as np
import pytest

from tests.unit.parallel.grid_processes import largest_difference, run_grid

# Eight micro-batches a step, which every grid here can share out, and dropout: each has the masks of its place.
BASE = {"num_layers": 4, "num_steps": 6, "rows": [3, 3, 2, 3, 2, 3, 3, 1], "dropout": 0.2, "train": {"clip_norm": 0.5}}
SAVED_AT = 3
GRIDS = {
    "1x1": {},
    "2x1": {"boundaries": [0, 3, 6]},
    "4x1": {"boundaries": [0, 1, 3, 4, 6]},
    "2x2": {"boundaries": [0, 2, 6], "parallel": {"replicas": 2, "shard_optimizer": True}},
}
SOURCES = ("2x1", "2x2", "4x1")
FIGURES = ("losses", "norms", "skipped")


def _run(folder, grid, cases):
    stages, replicas = map(int, grid.split("x"))
    return run_grid(folder, {name: {**BASE, **GRIDS[grid], **case} for name, case in cases.items()},
                    stages=stages, replicas=replicas)  # fmt: skip


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    return tmp_path_factory.mktemp("checkpoints")


@pytest.fixture(scope="module")
def whole(checkpoints, tmp_path_factory):
    """What each grid gets that is never stopped; it leaves a checkpoint of step 3."""
    folder = tmp_path_factory.mktemp("whole")
    return {
        grid: _run(folder, grid, {"whole": {"checkpoints": str(checkpoints / grid), "saved_at": SAVED_AT}})["whole"]
        for grid in SOURCES
    }


@pytest.fixture(scope="module", params=GRIDS)
def resumed(request, whole, checkpoints, tmp_path_factory):
    """(grid, what it gets that goes on from the checkpoint of each source)."""
    cases = {source: {"checkpoints": str(checkpoints / source), "goes_on_at": SAVED_AT} for source in SOURCES}
    return request.param, _run(tmp_path_factory.mktemp("resumed"), request.param, cases)


@pytest.mark.parametrize("source", SOURCES)
def test_a_checkpoint_goes_on_under_any_grid(resumed, whole, source):
    grid, found = resumed
    later = {name: whole[source][name][SAVED_AT:] for name in FIGURES}
    expected, given = {**whole[source], **later}, found[source]
    if grid == source:
        assert all(np.array_equal(expected[name], given[name]) for name in expected), "to the bit"
        return
    np.testing.assert_allclose(given["losses"], later["losses"], rtol=0, atol=1e-6)
    assert largest_difference(expected, given) < 1e-5
