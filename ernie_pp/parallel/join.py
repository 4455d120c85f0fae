"""Joining the processes of a run: our own connections, then Paddle's process groups."""

from __future__ import annotations

from typing import Any

import paddle.distributed as dist
from paddle.distributed import fleet

from ernie_pp.parallel.control import Control
from ernie_pp.parallel.gloo import set_up_gloo
from ernie_pp.parallel.topology import Grid
from ernie_pp.parallel.world import World

# Fleet's axes from the outermost to the innermost, by our name of the order.
_AXES = {
    "fleet": ["dp", "pp", "sharding", "sep", "mp"],
    "stages": ["pp", "dp", "sharding", "sep", "mp"],
}


def join_world(grid: Grid, control: Control, *, host: str, is_cpu: bool) -> World:
    """The world of this process; all ranks call this, after Paddle was told its device."""
    if grid.num_ranks == 1:
        return World(is_cpu=is_cpu)
    if is_cpu:
        set_up_gloo(host)
    fleet.init(is_collective=True, strategy=_strategy(grid))
    group = fleet.get_hybrid_communicate_group().get_data_parallel_group()
    assert dist.get_rank() == control.rank, "Paddle and we count the ranks alike"
    return World(grid, control, group if grid.replicas > 1 else None, host, is_cpu)


def _strategy(grid: Grid) -> Any:
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {
        "dp_degree": grid.replicas,
        "pp_degree": grid.stages,
        "mp_degree": 1,
        "sharding_degree": 1,
        "sep_degree": 1,
        "order": _AXES[grid.order],
    }
    pipeline = strategy.hybrid_configs["pp_configs"]
    pipeline.enable_dynamic_shape = True  # micro-batches have the length of their longest row
    pipeline.delay_scale_loss = True  # our losses are shares of the step's already
    return strategy
