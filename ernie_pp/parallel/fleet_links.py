"""What Fleet's schedules call to exchange tensors, over the links of CPU processes.

Has the methods of Paddle 3.3's `p2p_communication.P2pHelper`, which on CPU processes cannot send at all (gloo has no
calls on a stream), and for which interleaved stages may exchange one shape only.
"""

from __future__ import annotations

from typing import Any

import paddle

from ernie_pp.parallel.links import Message, MessageKind, StageLink
from ernie_pp.parallel.neighbours import Neighbours
from ernie_pp.parallel.stopwatch import Stopwatch

Tensors = Any  # a tensor, a tuple of them, or None


class FleetLinks:
    """Sends return at once; a receive gives what the neighbour has sent, shapes and all."""

    def __init__(self, neighbours: Neighbours, stopwatch: Stopwatch) -> None:
        self.neighbours, self.stopwatch = neighbours, stopwatch

    def recv_forward(self, pp_first_stage: bool, **_: object) -> Tensors:
        """The activations of the stage before."""
        return None if pp_first_stage else self._receive(self.neighbours.previous, "activations")

    def recv_backward(self, pp_last_stage: bool, **_: object) -> Tensors:
        """The gradients of what was sent to the stage after."""
        return None if pp_last_stage else self._receive(self.neighbours.following, "gradients")

    def send_forward(self, output_tensor: Tensors, pp_last_stage: bool, **_: object) -> None:
        """Activations for the stage after."""
        if not pp_last_stage:
            self._send(self.neighbours.following, "activations", output_tensor)

    def send_backward(self, input_tensor_grad: Tensors, pp_first_stage: bool, **_: object) -> None:
        """Gradients for the stage before."""
        if not pp_first_stage:
            self._send(self.neighbours.previous, "gradients", input_tensor_grad)

    def send_forward_recv_forward(self, output_tensor: Tensors, recv_prev: bool, **_: object) -> Tensors:
        """One chunk's activations out, the next one's in."""
        self._send(self.neighbours.following, "activations", output_tensor)
        return self.recv_forward(not recv_prev)

    def send_backward_recv_backward(self, input_tensor_grad: Tensors, recv_next: bool, **_: object) -> Tensors:
        """One chunk's gradients out, the next one's in."""
        self._send(self.neighbours.previous, "gradients", input_tensor_grad)
        return self.recv_backward(not recv_next)

    def send_forward_backward_recv_forward_backward(
        self, output_tensor: Tensors, input_tensor_grad: Tensors, recv_prev: bool, recv_next: bool, **_: object
    ) -> tuple[Tensors, Tensors]:
        """All four directions at once."""
        self._send(self.neighbours.following, "activations", output_tensor)
        self._send(self.neighbours.previous, "gradients", input_tensor_grad)
        return self.recv_forward(not recv_prev), self.recv_backward(not recv_next)

    def clear_meta_cache(self) -> None:
        """Every message says its own shapes: there is no cache."""

    def _send(self, link: StageLink | None, kind: MessageKind, tensors: Tensors) -> None:
        if tensors is None:
            return
        assert link is not None, "Fleet sends along the pipeline only"
        with self.stopwatch.handing_over():
            link.send(kind, _message_of(tensors))

    def _receive(self, link: StageLink | None, kind: MessageKind) -> Tensors:
        assert link is not None, "Fleet receives along the pipeline only"
        with self.stopwatch.waiting():
            message = link.receive(kind)
        with self.stopwatch.handing_over():
            return _tensors_of(message, is_forward=kind == "activations")


def _message_of(tensors: Tensors) -> Message:
    parts = tensors if isinstance(tensors, (tuple, list)) else (tensors,)
    # Fleet frees an output's memory right after it is sent; numpy() makes the copy that goes.
    arrays = tuple(part.numpy() for part in parts)
    return Message(arrays, tuple(not part.stop_gradient for part in parts), isinstance(tensors, (tuple, list)))


def _tensors_of(message: Message, *, is_forward: bool) -> Tensors:
    tensors = tuple(
        paddle.to_tensor(array, stop_gradient=not (is_forward and has_gradient))
        for array, has_gradient in zip(message.arrays, message.has_gradient, strict=True)
    )
    return tensors if message.is_tuple else tensors[0]
