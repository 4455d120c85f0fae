"""What each layer of a stack takes on this device: seconds forward and backward, and bytes kept between the two."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import paddle
from paddle.base import core

from ernie_pp.models.answer_losses import AnswerLoss
from ernie_pp.models.dropout import DropoutKey
from ernie_pp.models.entity_losses import build_entity_loss
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.losses import ClassificationLoss, Loss
from ernie_pp.models.stack import ErnieStack
from ernie_pp.parallel.part import Autocast, Part

# Rounds are measured until both are reached.
LEAST_ROUNDS, LEAST_S = 5, 1.5
MOST_ROUNDS = 40


@dataclass(frozen=True)
class LayerTimes:
    """One layer, for one micro-batch; `kept_bytes` counts its output and not its input.

    `working_bytes` are those that come and go: the most the backward pass holds beyond what was kept for it.
    """

    forward_s: float
    backward_s: float
    kept_bytes: int
    output_bytes: int
    working_bytes: int


@dataclass(frozen=True)
class StackTimes:
    """The three kinds of layers there are, and what loss and its gradient add to the head is in the head."""

    embeddings: LayerTimes
    block: LayerTimes
    head: LayerTimes


class LayerProfile:
    """Computes a stack layer by layer, each cut off from the next as pipeline stages are, and times each."""

    def __init__(self, stack: ErnieStack, *, casting: Autocast, rows: int, length: int) -> None:
        stack.train()
        self.parts = [Part([layer], state=stack.dropout_state, casting=casting) for layer in stack.layers]
        ids = np.random.default_rng(0).integers(1, stack.config.vocab_size, (rows, length))
        self.inputs = paddle.to_tensor(ids), paddle.to_tensor(np.zeros_like(ids))
        self.loss, self.targets = _some_loss(stack.head_spec, rows=rows, length=length)
        self._round = 0

    def measure(self) -> StackTimes:
        """Medians over some rounds, after two that warm up."""
        for _ in range(2):
            self.run()
        rounds, start = [], time.perf_counter()
        while len(rounds) < LEAST_ROUNDS or (time.perf_counter() - start < LEAST_S and len(rounds) < MOST_ROUNDS):
            rounds.append(self.run())
        first, *blocks, last = (_median(times) for times in zip(*rounds, strict=True))
        return StackTimes(first, _median(blocks), last)

    def run(self) -> list[LayerTimes]:
        """One micro-batch through all layers and back."""
        self._round += 1
        values, passes = self.inputs, []
        for part in self.parts:
            part.begin([(DropoutKey(0, self._round, 0, 0),)])
            values = _cut_off(values)
            before = allocated_bytes()
            output, seconds = _timed(partial(self._output, part, values))
            passes.append(_Pass(values, output, seconds, max(allocated_bytes() - before, 0)))
            values = output
        return list(_go_back(passes))[::-1]

    def _output(self, part: Part, values: Any) -> Any:
        output = part(values)
        return self.loss.sum(output, self.targets) if part is self.parts[-1] else output


def _some_loss(head: HeadSpec, *, rows: int, length: int) -> tuple[Loss, paddle.Tensor]:
    """The head's loss, and targets of the right form."""
    if head.has_pooler:
        return ClassificationLoss(), paddle.to_tensor(np.arange(rows) % head.num_outputs)
    if head.kind == "global_pointer":
        return build_entity_loss(head), paddle.zeros([rows, 1, 3], dtype="int64")
    if head.kind == "answer_span":
        return AnswerLoss(), paddle.zeros([rows, 2], dtype="int64")
    targets = np.arange(rows * length).reshape(rows, length) % head.num_outputs
    targets[:, 0] = -1
    return build_entity_loss(head), paddle.to_tensor(targets)


class _Pass(NamedTuple):
    given: Any
    output: Any
    seconds: float
    kept_bytes: int


def _go_back(passes: list[_Pass]) -> Iterator[LayerTimes]:
    """The times of each layer, the last one first; what a layer has kept goes with it."""
    gradient = None
    while passes:
        done = passes.pop()
        output = done.output[0] if isinstance(done.output, tuple) else done.output
        before = _reset_peak()
        _, seconds = _timed(partial(paddle.autograd.backward, [output], [gradient]))
        working = max(_peak_bytes() - before, 0)
        yield LayerTimes(done.seconds, seconds, done.kept_bytes, _num_bytes(done.output), working)
        gradient = done.given[0].grad


def _cut_off(values: Any) -> Any:
    """The same values as inputs of a graph of their own; a gradient is wanted of the first one."""
    first, second = values
    if not paddle.is_floating_point(first):
        return values
    first, second = first.detach(), second.detach()
    first.stop_gradient = False
    return first, second


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    _wait()
    return result, time.perf_counter() - start


def _wait() -> None:
    if _is_gpu():
        paddle.device.synchronize()


def allocated_bytes() -> int:
    """Bytes of all tensors on the device."""
    if _is_gpu():
        return int(paddle.device.cuda.memory_allocated())
    return int(core.host_memory_stat_current_value("Allocated", 0))


def _reset_peak() -> int:
    """Count the peak anew from here; the bytes that are allocated now."""
    if _is_gpu():
        paddle.device.cuda.reset_max_memory_allocated()
    else:
        core.host_memory_stat_reset_peak_value("Allocated", 0)
    return allocated_bytes()


def _peak_bytes() -> int:
    if _is_gpu():
        return int(paddle.device.cuda.max_memory_allocated())
    return int(core.host_memory_stat_peak_value("Allocated", 0))


def _is_gpu() -> bool:
    return paddle.device.get_device().startswith("gpu")


def _num_bytes(output: Any) -> int:
    tensors = output if isinstance(output, tuple) else (output,)
    return sum(int(tensor.size) * tensor.element_size() for tensor in tensors)


def _median(times: Sequence[LayerTimes]) -> LayerTimes:
    figures = zip(*map(astuple, times), strict=True)
    forward_s, backward_s, *sizes = map(statistics.median, figures)
    return LayerTimes(forward_s, backward_s, *map(int, sizes))
