"""Puts the engine of a run, or the forward pass of an evaluation, together from the settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import paddle

from ernie_pp.config import RunConfig, TrainConfig
from ernie_pp.models.losses import Loss
from ernie_pp.models.stack import WORD_EMBEDDINGS, ErnieStack
from ernie_pp.parallel.build import build_replicas, build_rounds
from ernie_pp.parallel.local import LocalRounds
from ernie_pp.parallel.part import Part
from ernie_pp.parallel.step import StepEngine
from ernie_pp.parallel.step_parts import StepParts
from ernie_pp.parallel.stopwatch import Stopwatch
from ernie_pp.parallel.topology import Layout, share_out
from ernie_pp.parallel.world import World
from ernie_pp.training.optim import Optimizer
from ernie_pp.training.precision import Precision, check_precision
from ernie_pp.training.schedule import learning_rate_at
from ernie_pp.training.tricks import Fgm, build_objective


def build_engine(
    stack: ErnieStack,
    *,
    loss: Loss,
    config: RunConfig,
    num_steps: int,
    world: World | None = None,
    layout: Layout | None = None,
) -> StepEngine:
    """An engine that trains `stack` for `num_steps` on the device Paddle is set to.

    Every rank of `world` gives the whole stack, and keeps the layers that `layout` gives to its stage.
    """
    world, layout, train = world or World(), layout or Layout(), config.train
    precision = _prepare(stack, train)
    stopwatch = Stopwatch(world.beats)
    num_blocks = stack.config.num_hidden_layers
    rounds = build_rounds(stack, casting=precision, world=world, layout=layout, stopwatch=stopwatch)
    parameters = stack.canonical_parameters()
    owners = _share_out(parameters, world) if config.parallel.shard_optimizer else None
    owned = None if owners is None else [name for name, replica in owners.items() if replica == world.replica]
    parts = StepParts(
        objective=build_objective(loss, rdrop_alpha=train.rdrop_alpha),
        updater=Optimizer(parameters, num_blocks=num_blocks, config=train, owned=owned, own_rates=_own_rates(config)),
        casting=precision,
        learning_rate=partial(learning_rate_at, num_steps=num_steps, config=train),
        rounds=rounds,
        stopwatch=stopwatch,
        replicas=build_replicas(world, gradient_type=config.parallel.gradient_type),
        attack=Fgm(train.fgm_epsilon, parameters.get(WORD_EMBEDDINGS)) if train.fgm_epsilon > 0 else None,
        owners=owners,
    )
    return StepEngine(stack, parts, seed=config.seed, world=world)


def _own_rates(config: RunConfig) -> dict[str, float]:
    """A CRF's few transitions have far to go, where an encoder needs small steps."""
    return {"crf.": config.ner.crf_learning_rate} if config.task == "ner" else {}


def _share_out(parameters: Mapping[str, paddle.Tensor], world: World) -> dict[str, int]:
    """Which replica of this stage updates which parameter, and alone keeps its optimizer state.

    Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", stage 1.
    """
    sizes = {name: int(parameter.size) for name, parameter in parameters.items()}
    return share_out(sizes, num_shares=world.grid.replicas)


def build_forward(stack: ErnieStack, *, config: TrainConfig) -> LocalRounds:
    """What computes `stack` as its training run did, in this process, on the device Paddle is set to."""
    casting = _prepare(stack, config)
    return LocalRounds(Part(list(stack.layers), state=stack.dropout_state, casting=casting))


def _prepare(stack: ErnieStack, config: TrainConfig) -> Precision:
    is_cpu = not paddle.device.get_device().startswith("gpu")
    check_precision(config, device="cpu" if is_cpu else "gpu")
    precision = Precision(config)
    precision.prepare(stack)
    if is_cpu:
        use_cpu_kernels(stack)
    return precision


def use_cpu_kernels(stack: ErnieStack) -> None:
    """Take the CPU's fast way through the layers, for this process."""
    # Views of transposed tensors are copied element by element wherever a kernel wants them whole; the transpose
    # kernel itself does the same 30 times faster.
    paddle.set_flags({"FLAGS_use_stride_kernel": False})
    stack.use_fast_ops(True)
