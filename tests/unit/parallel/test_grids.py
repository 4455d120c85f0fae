"""Every grid gives what one process gives: losses, gradient norms, weights after five steps, logits of new rows."""

import numpy as np
import pytest

from tests.unit.parallel.grid_processes import PLAIN, largest_difference, run_grid

TRICKS = {"fgm_epsilon": 0.5, "rdrop_alpha": 2.0, "layer_decay": 0.8, "clip_norm": 0.1, "head_learning_rate": 2e-3}
BASES = {
    "plain": PLAIN,
    "dropout": {**PLAIN, "dropout": 0.2},
    "tricks": {**PLAIN, "dropout": 0.2, "train": TRICKS, "class_weights": True},
    "few rows": {**PLAIN, "rows": [3, 2, 0, 0]},
    "six blocks": {**PLAIN, "num_layers": 6},
    "six blocks, uneven": {**PLAIN, "num_layers": 6, "rows": [3, 2, 3, 1, 2], "dropout": 0.2, "train": TRICKS},
}
TWO = {"boundaries": [0, 3, 6]}
# So few numbers that gradients go in many messages, of one parameter or several.
FEW = {"buffer_numbers": 3000}
SHARDED = {"parallel": {"replicas": 2, "shard_optimizer": True}, **FEW}
RESUMED = {"resumed_at": 3}
RECOMPUTED = {**TWO, "recomputed": [1, 2, 4]}
EIGHT_CHUNKS = {"boundaries": [0, 1, 2, 3, 4, 5, 6, 7, 8], "virtual_stages": 2}
SIX_CHUNKS = {"boundaries": [0, 2, 3, 4, 5, 6, 8], "virtual_stages": 2}
# grid -> name of the case -> (the base it must equal, what the grid adds to it)
GRIDS = {
    (1, 1, "fleet"): {"recomputed": ("dropout", {"recomputed": [1, 2, 3, 4]})},
    (2, 1, "fleet"): {
        "plain": ("plain", TWO),
        "recomputed": ("dropout", RECOMPUTED),
        "tricks": ("tricks", TWO),
        "resumed": ("dropout", {**TWO, **RESUMED}),
    },
    (1, 2, "fleet"): {
        "plain": ("plain", FEW),
        "tricks": ("tricks", {}),
        "few rows": ("few rows", {}),
        "optimizer sharded": ("tricks", SHARDED),
        "optimizer sharded, resumed": ("dropout", {**SHARDED, **RESUMED}),
    },
    (2, 2, "fleet"): {
        "plain": ("plain", TWO),
        "recomputed": ("tricks", RECOMPUTED),
        "few rows": ("few rows", TWO),
    },
    (2, 2, "stages"): {
        "dropout": ("dropout", TWO),
        "optimizer sharded, resumed": ("tricks", {**TWO, **SHARDED, **RESUMED}),
    },
    (3, 1, "fleet"): {
        "plain": ("plain", {"boundaries": [0, 2, 4, 6]}),
        "interleaved": ("six blocks, uneven", SIX_CHUNKS),
    },
    (4, 1, "fleet"): {
        "plain": ("plain", {"boundaries": [0, 2, 3, 4, 6]}),
        "few rows": ("few rows", {"boundaries": [0, 2, 3, 4, 6]}),
        "interleaved": ("six blocks", EIGHT_CHUNKS),
        "all forward first": ("six blocks", {**EIGHT_CHUNKS, "schedule": "f_then_b"}),
    },
}
EXACT = {(1, 1, "fleet"), (2, 1, "fleet"), (3, 1, "fleet"), (4, 1, "fleet")}  # no sum over replicas


@pytest.fixture(scope="module")
def one_process(tmp_path_factory):
    return run_grid(tmp_path_factory.mktemp("one"), BASES)


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"{grid[0]}x{grid[1]} {grid[2]}")
def test_a_grid_gives_what_one_process_gives(one_process, tmp_path, grid):
    cases = GRIDS[grid]
    stages, replicas, order = grid
    found = run_grid(
        tmp_path,
        {name: {**BASES[base], **more} for name, (base, more) in cases.items()},
        stages=stages,
        replicas=replicas,
        rank_order=order,
    )
    differences = {name: largest_difference(one_process[base], found[name]) for name, (base, _) in cases.items()}
    assert max(differences.values()) < (1e-9 if grid in EXACT else 1e-5), differences


def test_gradients_in_half_the_bytes_are_near_those_of_one_process_and_not_the_same(one_process, tmp_path):
    case = {**PLAIN, "parallel": {"replicas": 2, "gradient_type": "bf16"}}
    found = run_grid(tmp_path, {"halved": case}, replicas=2)["halved"]
    for figure in ("losses", "norms"):
        np.testing.assert_allclose(found[figure], one_process["plain"][figure], rtol=2e-2)
    assert largest_difference(one_process["plain"], found) > 1e-5


def test_the_bases_differ_from_each_other(one_process):
    """Or their equality on a grid would say little."""
    plain = one_process["plain"]
    assert largest_difference(plain, one_process["dropout"]) > 1e-2
    assert largest_difference(one_process["dropout"], one_process["tricks"]) > 1e-2
