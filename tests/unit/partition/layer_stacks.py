"""Small stacks of layers whose costs are written down in the test."""

from dataclasses import replace

from hypothesis import strategies as st

from ernie_pp.partition.costs import DeviceCosts, LayerCost, Link, StackCosts
from ernie_pp.partition.order import Pipeline
from ernie_pp.partition.parts import Wanted
from ernie_pp.partition.plan import StepRows, make_plan
from ernie_pp.partition.solve import solve

DEVICE = DeviceCosts(base_bytes=0, state_factor=4, update_s_per_byte=0.0, step_s=0.0, reduce_bytes_per_s=1e9)
FAST = Link(bytes_per_s=1e18)


def layer(name="block", forward_s=1.0, backward_s=2.0, *, weights=0, kept=0, again=0, out=0, can_recompute=True):
    """One layer; sizes in bytes."""
    return LayerCost(name, forward_s, backward_s, weights, kept, again, out, can_recompute)


def stack(*layers, link=FAST, device=DEVICE):
    """The costs of a model of these layers."""
    return StackCosts(tuple(layers), link, device)


def like_blocks(num_blocks, *, embeddings=None, head=None, link=FAST, device=DEVICE, **sizes):
    """Embeddings, blocks that are all alike, a head."""
    embeddings = embeddings or layer("embeddings", 0.5, 1.0, can_recompute=False)
    head = head or layer("head", 0.1, 0.2, can_recompute=False)
    blocks = [layer(f"block {index}", **sizes) for index in range(num_blocks)]
    return stack(embeddings, *blocks, head, link=link, device=device)


def odd_stacks(max_layers=12):
    """Stacks of any numbers, zeros and a layer heavier than all others together among them; whole numbers in eighths,

    so that no sum rounds.
    """
    seconds = st.one_of(st.just(0.0), st.integers(0, 20).map(lambda n: n / 8), st.just(100.0))
    size = st.one_of(st.just(0), st.integers(0, 30), st.just(500))
    one = st.builds(
        lambda f, b, weights, kept, out, can: LayerCost("any", f, b, weights, kept, kept // 4, out, can),
        seconds,
        seconds,
        size,
        size,
        st.integers(0, 16),
        st.booleans(),
    )
    links = st.sampled_from([FAST, Link(bytes_per_s=8.0), Link(bytes_per_s=8.0, latency_s=2.0)])
    return st.builds(
        lambda layers, link: stack(*layers, link=link, device=replace(DEVICE, base_bytes=10)),
        st.lists(one, min_size=1, max_size=max_layers),
        links,
    )


def wanted(*, stages=1, micro_batches=1, memory_bytes=None, recompute="none", schedule="1f1b", virtual_stages=1):
    """What a cut is looked for."""
    return Wanted(Pipeline(stages, micro_batches, schedule, virtual_stages), memory_bytes, recompute)


def solve_for(costs, **settings):
    """The cut for settings as `wanted` takes them."""
    return solve(costs, wanted(**settings))


def plan_for(costs, *, rows=1, length=1, replicas=1, batch_size=None, boundaries=None, **settings):
    """The plan for settings as `wanted` takes them."""
    return make_plan(costs, wanted(**settings), StepRows(rows, length, replicas, batch_size), boundaries=boundaries)
