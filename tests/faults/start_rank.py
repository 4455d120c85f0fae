"""Joins the world again and again: Paddle is loaded once, and every line on standard input is a start in a fork.

A line gives the environment of a rank, its grid, the settings it believes in and a number; the answer is a line with
the same number of the start. Starts go on at once.
"""

import json
import os
import sys

import numpy as np
import paddle
import paddle.distributed as dist
from paddle.distributed import fleet

from ernie_pp.errors import ErniePPError
from ernie_pp.parallel.join import join_world
from ernie_pp.parallel.place import find_place
from ernie_pp.parallel.topology import Grid


def _join(job):
    """The sums of the ranks' numbers over all, over this stage's replicas and over this replica's stages."""
    grid, place = Grid(job["stages"], job["replicas"]), find_place(os.environ)
    world = join_world(grid, place, is_cpu=True, settings=job["settings"])
    total = float(world.control.sum(np.array([job["number"]]))[0])
    groups = fleet.get_hybrid_communicate_group()
    sums = [_sum(job["number"], group) for group in (world.replica_group, groups.get_pipe_parallel_group())]
    world.control.meet()
    return [total, *sums]


def _sum(number, group):
    if group is None:
        return number
    tensor = paddle.to_tensor([float(number)])
    dist.all_reduce(tensor, group=group)
    return float(tensor)


def _start(job):
    os.environ.clear()
    os.environ.update(job["environment"])
    paddle.set_device("cpu")
    try:
        return {"sums": _join(job)}
    except ErniePPError as error:
        return {"error": str(error)}


def main():
    print("ready", flush=True)
    for line in sys.stdin:
        if os.fork() == 0:
            job = json.loads(line)
            # One write: the other children have the same pipe, and print may write its line end apart.
            os.write(1, (json.dumps({"start": job["start"], **_start(job)}) + "\n").encode())
            os._exit(0)


if __name__ == "__main__":
    main()
