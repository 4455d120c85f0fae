"""A plan as it is kept in plan.json: a grid, its cut and what a step is expected to take."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import Any

from ernie_pp.errors import ConfigError
from ernie_pp.partition.order import Schedule


@dataclass(frozen=True)
class Plan:
    """All numbers of a plan. Part `chunk * stages + stage` of the layers is a stage's chunk."""

    stages: int
    replicas: int
    micro_batches: int  # of one step and replica
    virtual_stages: int
    schedule: Schedule
    boundaries: tuple[int, ...]  # 0, the first layer of each further part, the number of layers
    recomputed: tuple[int, ...]  # block numbers from 0
    rows_per_micro_batch: int
    length: int
    part_forward_s: tuple[float, ...]  # one micro-batch
    part_backward_s: tuple[float, ...]  # with the second forward pass of recomputed blocks
    transfer_s: tuple[float, ...]  # one message over each boundary
    step_s: float  # timeline, sum of the replicas' gradients, update
    bubble_share: float  # of the timeline, what the stages wait
    stage_bytes: tuple[int, ...]
    tokens_per_s: float  # of all replicas

    @property
    def num_devices(self) -> int:
        """Devices in use."""
        return self.stages * self.replicas

    def to_json(self) -> dict:
        """Values for plan.json."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, values: object, *, where: str = "plan.json") -> Plan:
        """The inverse of `to_json`; ConfigError for values that it cannot have given."""
        if not isinstance(values, Mapping):
            raise _wrong(where, f"holds a {type(values).__name__}, an object was expected")
        kinds = {field.name: str(field.type) for field in fields(cls)}
        odd = sorted(map(str, kinds.keys() ^ values.keys()))
        if odd:
            raise _wrong(where, f"{'lacks' if odd[0] in kinds else 'has the unknown key'} {odd[0]}")
        for name, kind in kinds.items():
            if not _IS_OF[kind](values[name]):
                raise _wrong(where, f"{name} is {values[name]!r}, expected {_WORDS[kind]}")
        read: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        plan = cls(**read)
        _check_together(plan, where)
        return plan


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _is_list_of(is_one: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(map(is_one, value))


_IS_OF = {
    "int": lambda value: _is_count(value) and value > 0,
    "float": _is_number,
    "Schedule": lambda value: value in ("1f1b", "f_then_b"),
    "tuple[int, ...]": _is_list_of(_is_count),
    "tuple[float, ...]": _is_list_of(_is_number),
}
_WORDS = {
    "int": "a whole number of at least 1",
    "float": "a number of at least 0",
    "Schedule": "one of: 1f1b, f_then_b",
    "tuple[int, ...]": "a list of whole numbers of at least 0",
    "tuple[float, ...]": "a list of numbers of at least 0",
}


def _check_together(plan: Plan, where: str) -> None:
    """The lists have the lengths that the grid asks for, and name layers that are there."""
    num_parts = plan.stages * plan.virtual_stages
    lengths = {
        "boundaries": num_parts + 1,
        "part_forward_s": num_parts,
        "part_backward_s": num_parts,
        "transfer_s": num_parts - 1,
        "stage_bytes": plan.stages,
    }
    for name, length in lengths.items():
        if len(getattr(plan, name)) != length:
            raise _wrong(where, f"{name} has {len(getattr(plan, name))} numbers, the grid asks for {length}")
    if plan.boundaries[0] != 0 or any(start >= end for start, end in pairwise(plan.boundaries)):
        raise _wrong(where, f"boundaries are {list(plan.boundaries)}, growing numbers from 0 were expected")
    num_blocks = plan.boundaries[-1] - 2
    if any(block >= num_blocks for block in plan.recomputed):
        raise _wrong(where, f"recomputed names block {max(plan.recomputed)}, the cut has {num_blocks} blocks")


def _wrong(where: str, what: str) -> ConfigError:
    return ConfigError(where, what, "Make the plan again: delete the file, or plan with the same config.")
