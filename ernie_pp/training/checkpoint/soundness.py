"""Whether a state is worth keeping: all values finite, and the replicas of a stage at one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ernie_pp.parallel.engine import EngineState
from ernie_pp.parallel.topology import Grid

_BFLOAT16_EXPONENT = 0x7F80


@dataclass(frozen=True)
class Findings:
    """What one rank sees in its own state; `num_bytes` are those that it is going to write."""

    bad_tensor: str | None
    weights_digest: str
    num_bytes: int


@dataclass(frozen=True)
class Fault:
    """A reason to write nothing and to end the run."""

    where: str
    what: str


def look_at(state: EngineState, *, has_replicas: bool, num_bytes: int) -> Findings:
    """The findings of this rank; weights are hashed only where there is another replica to compare them with."""
    digest = digest_of(state.weights) if has_replicas else ""
    return Findings(first_bad_tensor(state), digest, num_bytes)


def first_bad_tensor(state: EngineState) -> str | None:
    """The first tensor that holds a value which is not finite."""
    for kind, arrays in (("weights", state.weights), ("optimizer state", state.optimizer)):
        for name, array in arrays.items():
            if not _is_finite(array):
                return f"{kind} {name}"
    return None


def digest_of(arrays: Mapping[str, np.ndarray]) -> str:
    """A sha256 over names, types, shapes and values; the order of the names does not matter."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def find_fault(findings: Sequence[Findings], grid: Grid) -> Fault | None:
    """What is wrong over all ranks, by the findings of each; the first of it."""
    for rank, found in enumerate(findings):
        if found.bad_tensor is not None:
            where = f"rank {rank} (stage {grid.stage_of(rank)}, replica {grid.replica_of(rank)})"
            return Fault(where, f"{found.bad_tensor} holds a value that is not finite")
    for stage in range(grid.stages):
        digests = [findings[rank].weights_digest for rank in grid.ranks_of_stage(stage)]
        odd = [str(replica) for replica, digest in enumerate(digests) if digest != digests[0]]
        if odd:
            return Fault(f"stage {stage}", f"its replicas have come apart: {', '.join(odd)} hold other weights than 0")
    return None


def _is_finite(array: np.ndarray) -> bool:
    if array.dtype == np.uint16:  # Paddle's bfloat16
        return not bool(((array & _BFLOAT16_EXPONENT) == _BFLOAT16_EXPONENT).any())
    return bool(np.isfinite(array).all())
