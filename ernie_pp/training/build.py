"""Puts the engine of a run, or the forward pass of an evaluation, together from the settings."""

from __future__ import annotations

from functools import partial

import paddle

from ernie_pp.config.schema import TrainConfig
from ernie_pp.models.losses import ClassificationLoss
from ernie_pp.models.stack import WORD_EMBEDDINGS, ErnieStack
from ernie_pp.parallel.forward import SingleProcessForward
from ernie_pp.parallel.single import SingleProcessEngine, StepParts
from ernie_pp.training.optim import Optimizer
from ernie_pp.training.precision import Precision, check_precision
from ernie_pp.training.schedule import learning_rate_at
from ernie_pp.training.tricks import Fgm, build_objective


def build_engine(
    stack: ErnieStack, *, loss: ClassificationLoss, config: TrainConfig, num_steps: int, seed: int
) -> SingleProcessEngine:
    """An engine that trains `stack` for `num_steps` on the device Paddle is set to."""
    precision = _prepare(stack, config)
    parameters = stack.canonical_parameters()
    parts = StepParts(
        objective=build_objective(loss, rdrop_alpha=config.rdrop_alpha),
        updater=Optimizer(parameters, num_blocks=stack.config.num_hidden_layers, config=config),
        casting=precision,
        learning_rate=partial(learning_rate_at, num_steps=num_steps, config=config),
        attack=Fgm(config.fgm_epsilon, parameters[WORD_EMBEDDINGS]) if config.fgm_epsilon > 0 else None,
    )
    return SingleProcessEngine(stack, parts, seed=seed)


def build_forward(stack: ErnieStack, *, config: TrainConfig) -> SingleProcessForward:
    """What computes `stack` as its training run did, on the device Paddle is set to."""
    return SingleProcessForward(stack, _prepare(stack, config))


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
