"""Rounds of a pipeline stage: Paddle Fleet's 1F1B, interleaved or F-then-B schedule over the parts of a replica."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import paddle
from paddle.distributed import fleet
from paddle.distributed.fleet.meta_parallel.parallel_layers.pp_layers import LayerDesc, PipelineLayer
from paddle.distributed.fleet.model import distributed_model

from ernie_pp.data.batches import MicroBatch
from ernie_pp.parallel.fleet_links import FleetLinks
from ernie_pp.parallel.neighbours import open_neighbours
from ernie_pp.parallel.part import Part, input_tensors
from ernie_pp.parallel.rounds import LossOf, RoundItem
from ernie_pp.parallel.stopwatch import Stopwatch
from ernie_pp.parallel.topology import Layout
from ernie_pp.parallel.world import World
from ernie_pp.partition.order import Kind


def build_pipeline(parts: Sequence[Part], *, world: World, layout: Layout, stopwatch: Stopwatch) -> PipelineRounds:
    """The parts of this process (one a chunk) in Fleet's pipeline; all ranks call this."""
    num_parts = world.grid.stages * layout.virtual_stages
    own = {world.stage + chunk * world.grid.stages: part for chunk, part in enumerate(parts)}
    # Fleet sees one layer a part, so that its own cut, which knows equal numbers only, is ours.
    descriptions = [own[part] if part in own else LayerDesc(Part, ()) for part in range(num_parts)]
    loss = _RoundLoss()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that no weight is shared between stages
        model = PipelineLayer(
            layers=descriptions,
            topology=fleet.get_hybrid_communicate_group().topology(),
            loss_fn=loss,
            seg_method=f"layer:{Part.__name__}",
            num_virtual_pipeline_stages=layout.virtual_stages,
        )
    _choose_schedule(layout, num_stages=world.grid.stages)
    pipeline: Any = distributed_model(model)
    if world.is_cpu or layout.virtual_stages > 1:
        is_ring = layout.virtual_stages > 1
        pipeline._p2p_helper = FleetLinks(open_neighbours(world, is_ring=is_ring), stopwatch)
        pipeline._dynamic_shape = False  # Fleet's own way to exchange shapes; our messages say theirs
    # Our losses are in `loss`; Fleet's broadcast of their mean would wait for late stages, which gloo does for 30 s.
    pipeline._broadcast_final_loss = lambda *_: None
    pipeline._forward_step = _timed(pipeline, pipeline._forward_step, kind="forward", stopwatch=stopwatch)
    pipeline._backward_step = _timed(pipeline, pipeline._backward_step, kind="backward", stopwatch=stopwatch)
    return PipelineRounds(pipeline, parts, loss, world=world)


def _timed(pipeline: Any, step: Callable[..., Any], *, kind: Kind, stopwatch: Stopwatch) -> Callable[..., Any]:
    """Fleet's step for one micro-batch and chunk, with its time noted."""

    def timed(*values: Any, **more: Any) -> Any:
        with stopwatch.computing(kind, chunk=pipeline._virtual_pp_rank or 0):
            return step(*values, **more)

    return timed


def _choose_schedule(layout: Layout, *, num_stages: int) -> None:
    """Fleet takes its schedule from the number of micro-batches it is told before the first step."""
    many = num_stages if layout.schedule == "f_then_b" else 2 * num_stages
    fleet.fleet._user_defined_strategy.pipeline_configs = {"accumulate_steps": many, "micro_batch_size": 1}


class PipelineRounds:
    """A stage of one replica."""

    def __init__(self, pipeline: Any, parts: Sequence[Part], loss: _RoundLoss, *, world: World) -> None:
        self.pipeline, self.parts, self.loss, self.world = pipeline, list(parts), loss, world
        self.num_chunks = len(self.parts)
        self.has_first, self.has_last = world.stage == 0, world.stage == world.grid.stages - 1

    def accumulate(self, items: Sequence[RoundItem], loss_of: LossOf, *, scale: float) -> np.ndarray:
        """Add the gradients; float64 losses on the last stage, zeros on the others."""
        if not items:
            return np.zeros(0)
        filled = self._fill(items)
        self.loss.begin([item.batch for item in filled], loss_of, scale=scale, num_real=len(items))
        self.pipeline.train()
        for part in self.parts:
            part.begin([item.keys for item in filled])
        self._start(len(filled))
        self.pipeline.forward_backward_pipeline(self._inputs(filled), None)
        return self.loss.values() if self.has_last else np.zeros(len(items))

    def forward(self, micro_batches: Iterable[MicroBatch]) -> Iterator[np.ndarray]:
        """Float32 logits of each micro-batch on the last stage, nothing on the others."""
        items = [RoundItem(batch, ()) for batch in micro_batches]
        if not items:
            return iter(())
        logits: list[np.ndarray] = []

        def keep(_: object, __: object, output: Any) -> Any:
            logits.append(_to_array(output))
            return output

        hook = self.parts[-1].register_forward_post_hook(keep)
        filled = self._fill(items)
        self._start(len(filled))
        self.pipeline.eval()
        try:
            with paddle.no_grad():
                self.pipeline.eval_batch(self._inputs(filled), compute_loss=False)
        finally:
            hook.remove()
        return iter(logits[: len(items)] if self.has_last else [])

    def _fill(self, items: Sequence[RoundItem]) -> list[RoundItem]:
        """Chunks go round in groups of as many micro-batches as there are stages: repeat the last, for nothing."""
        missing = -len(items) % self.world.grid.stages if self.num_chunks > 1 else 0
        return [*items, *[items[-1]] * missing]

    def _start(self, num_micro_batches: int) -> None:
        self.pipeline.accumulate_steps = num_micro_batches
        self.pipeline._init_user_hooks()  # places for hooks, one a micro-batch
        self.pipeline.set_virtual_pipeline_rank(0)

    def _inputs(self, items: Sequence[RoundItem]) -> Iterator[tuple[Any, Any]]:
        """What Fleet takes for each micro-batch: inputs on the first stage, and something for labels on the last."""
        nothing = paddle.zeros([1])
        for item in items:
            passes = max(1, len(item.keys))
            yield (input_tensors(item.batch, num_passes=passes) if self.has_first else nothing), nothing


def _to_array(output: Any) -> np.ndarray:
    return output.astype("float32").numpy() if isinstance(output, paddle.Tensor) else np.zeros(0)


class _RoundLoss:
    """Fleet's loss function: called with the logits of each micro-batch in turn."""

    def begin(self, batches: Sequence[MicroBatch], loss_of: LossOf, *, scale: float, num_real: int) -> None:
        """Start a round; micro-batches after the first `num_real` count nothing."""
        self.batches, self.loss_of, self.scale, self.num_real = list(batches), loss_of, scale, num_real
        self.losses: list[paddle.Tensor] = []

    def __call__(self, logits: paddle.Tensor, _: object) -> paddle.Tensor:
        index = len(self.losses)
        loss = self.loss_of(logits, self.batches[index])
        self.losses.append(loss.detach())
        factor = self.scale if index < self.num_real else 0.0
        return loss if factor == 1.0 else loss * factor

    def values(self) -> np.ndarray:
        """The losses of the round, float64."""
        return paddle.stack(self.losses[: self.num_real]).numpy().astype(np.float64)
