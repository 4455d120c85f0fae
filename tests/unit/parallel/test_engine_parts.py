"""What an engine is given for a grid."""

from types import SimpleNamespace
from typing import Any

import pytest

from ernie_pp.errors import ConfigError
from ernie_pp.parallel.build import build_replicas
from ernie_pp.parallel.replicas import OneReplica, ReplicaGroup
from ernie_pp.parallel.topology import Grid
from ernie_pp.parallel.world import World

GROUP: Any = SimpleNamespace(ranks=[0, 1])


def test_one_replica_has_nothing_to_sum():
    assert isinstance(build_replicas(World(Grid(stages=2)), gradient_type="fp32"), OneReplica)


@pytest.mark.parametrize(
    "gradient_type, is_cpu, dtype", [("fp32", True, "float32"), ("bf16", True, "bfloat16"), ("fp16", False, "float16")]
)
def test_replicas_exchange_gradients_in_the_wanted_type(gradient_type, is_cpu, dtype):
    world = World(Grid(replicas=2), replica_group=GROUP, is_cpu=is_cpu)
    replicas = build_replicas(world, gradient_type=gradient_type)
    assert isinstance(replicas, ReplicaGroup) and replicas.dtype == dtype


def test_fp16_gradients_over_cpu_processes_are_refused():
    world = World(Grid(replicas=2), replica_group=GROUP)
    with pytest.raises(ConfigError, match=r"gradient_type\n  is fp16, .* infinite in it\n  Set .* bf16 or fp32"):
        build_replicas(world, gradient_type="fp16")
