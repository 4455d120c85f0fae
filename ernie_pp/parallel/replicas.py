"""Sums of gradients over the replicas of a stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import paddle
import paddle.distributed as dist
from paddle.distributed.communication.group import Group

from ernie_pp.parallel.control import Control

# Gradients are summed in pieces of this many numbers: one message each, and no second copy of everything.
BUFFER_NUMBERS = 16 << 20


class GradientSum(Protocol):
    """What the replicas of a stage do together."""

    def reduce(self, parameters: Sequence[paddle.Tensor]) -> None:
        """Put the sum over all replicas into every gradient; a missing one counts as zeros."""
        ...

    def summed_copy(self, tensor: paddle.Tensor) -> paddle.Tensor:
        """The sum over all replicas; `tensor` stays as it is."""
        ...

    def spread(self, parameters: Mapping[str, paddle.Tensor], owners: Mapping[str, int]) -> None:
        """Give every replica the values that each parameter's owner (a replica) has."""
        ...


class OneReplica:
    """There is nothing to sum."""

    def reduce(self, parameters: Sequence[paddle.Tensor]) -> None:
        """The gradients are the sums."""

    def summed_copy(self, tensor: paddle.Tensor) -> paddle.Tensor:
        """The tensor itself."""
        return tensor

    def spread(self, parameters: Mapping[str, paddle.Tensor], owners: Mapping[str, int]) -> None:
        """The one replica has them all."""


@dataclass(frozen=True)
class ReplicaGroup:
    """Sums over a process group, in `dtype` (float32 keeps the parity with one process)."""

    group: Group
    control: Control
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"

    def reduce(self, parameters: Sequence[paddle.Tensor]) -> None:
        """Sum in few large messages, once every rank has its last gradient."""
        # gloo gives up on a peer that is 30 s late; this has no limit.
        self.control.meet()
        for bucket in _buckets(parameters):
            self._reduce(bucket)

    def summed_copy(self, tensor: paddle.Tensor) -> paddle.Tensor:
        """The sum over all replicas, float32."""
        total = tensor.astype(self.dtype).clone()
        dist.all_reduce(total, group=self.group)
        return total.astype("float32")

    def spread(self, parameters: Mapping[str, paddle.Tensor], owners: Mapping[str, int]) -> None:
        """One replica after the other sends what it has updated, in few large messages."""
        for replica, rank in enumerate(self.group.ranks):
            own = [parameter for name, parameter in parameters.items() if owners[name] == replica]
            for bucket in _buckets(own):
                flat = paddle.concat([parameter.reshape([-1]) for parameter in bucket])
                dist.broadcast(flat, src=rank, group=self.group)
                for parameter, piece in zip(bucket, _pieces(flat, bucket), strict=True):
                    parameter.set_value(piece.reshape(parameter.shape))

    def _reduce(self, parameters: Sequence[paddle.Tensor]) -> None:
        with paddle.no_grad():
            flat = paddle.concat([_gradient(parameter).reshape([-1]) for parameter in parameters])
            flat = flat.astype(self.dtype)
            dist.all_reduce(flat, group=self.group)
            for parameter, piece in zip(parameters, _pieces(flat, parameters), strict=True):
                parameter.grad = piece.reshape(parameter.shape).astype(parameter.dtype)


def _gradient(parameter: paddle.Tensor) -> paddle.Tensor:
    # A replica without rows in a small last step has none.
    return paddle.zeros_like(parameter) if parameter.grad is None else parameter.grad


def _pieces(flat: paddle.Tensor, parameters: Sequence[paddle.Tensor]) -> list[paddle.Tensor]:
    return paddle.split(flat, [parameter.size for parameter in parameters]) if len(parameters) > 1 else [flat]


def _buckets(parameters: Sequence[paddle.Tensor]) -> Iterator[list[paddle.Tensor]]:
    """Neighbours of one type, up to BUFFER_NUMBERS together; a larger one alone."""
    bucket: list[paddle.Tensor] = []
    for parameter in parameters:
        size = sum(member.size for member in bucket)
        if bucket and (size + parameter.size > BUFFER_NUMBERS or parameter.dtype != bucket[0].dtype):
            yield bucket
            bucket = []
        bucket.append(parameter)
    if bucket:
        yield bucket
