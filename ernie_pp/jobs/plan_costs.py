"""What a run's layers cost by its settings: from the formula, or measured here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ernie_pp.config import RunConfig
from ernie_pp.jobs.device_kinds import DeviceKind
from ernie_pp.jobs.profile_costs import Request, measured_costs
from ernie_pp.machine.cpu import threads_per_process
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.partition.costs import LayerCost, StackCosts
from ernie_pp.partition.formula import Shape, formula_costs

# Memory that a kept heap holds for each byte of tensors: measured 1.4 in one process and 1.8 to 2.0 in the stages of a
# pipeline, whose tensors come and go in another order (glibc 2.36).
HEAP_FACTOR = 1.7


@dataclass(frozen=True)
class ModelFacts:
    """Sizes of a model as its config.json has them, and of its head."""

    values: Mapping[str, Any]
    head: HeadSpec

    def __str__(self) -> str:
        values = self.values
        return f"{values['num_hidden_layers']} blocks, {values['hidden_size']} wide, {values['vocab_size']:,} tokens"


@dataclass(frozen=True)
class Devices:
    """What a plan is made for. A CPU's processes share its memory, unless somebody says how much each may have.

    They share its cores too: `cores` of another machine, or this one's.
    """

    kind: DeviceKind
    count: int
    memory_bytes: int
    is_shared: bool = False
    cores: int | None = None

    @property
    def is_cpu(self) -> bool:
        """Whether a device is a process on a CPU."""
        return self.kind.name == "cpu"

    def memory_of_one(self, processes: int) -> int:
        """Bytes for each of so many processes."""
        return self.memory_bytes // processes if self.is_shared else self.memory_bytes

    def threads(self, config: RunConfig, processes: int) -> int:
        """Math threads of each of so many processes."""
        if self.cores is None:
            return threads_per_process(processes, wanted=config.cpu.threads)
        return config.cpu.threads or max(1, self.cores // processes)


@dataclass(frozen=True)
class Costing:
    """Gives the costs of any micro-batch of a run; `cache` is set where they are to be measured."""

    config: RunConfig
    model: ModelFacts
    devices: Devices
    length: int
    cache: Path | None = None
    may_measure: bool = True

    def of(self, rows: int, *, processes: int) -> StackCosts:
        """Costs with micro-batches of so many rows, in one of so many processes; measured at exactly these rows."""
        # R-Drop computes each row twice, in one pass.
        rows *= 2 if self.config.train.rdrop_alpha > 0 else 1
        formula = self._formula(rows, processes)
        if self.cache is None:
            return self._in_heap(formula)
        request = self._request(rows, processes)
        return self._in_heap(measured_costs(request, formula, cache=self.cache, may_measure=self.may_measure))

    def between(self, rows: int, *, processes: int, most_rows: int) -> StackCosts:
        """As `of`, but measured at one row and at `most_rows` only: times and bytes go straight between them."""
        if self.cache is None or rows in (1, most_rows):
            return self.of(rows, processes=processes)
        few, many = (self.of(count, processes=processes) for count in (1, most_rows))
        return _between(few, many, (rows - 1) / (most_rows - 1))

    def _in_heap(self, costs: StackCosts) -> StackCosts:
        """What tensors take of a process's memory: on a CPU that keeps what is freed, more than they need."""
        if not self.devices.is_cpu or not self.config.cpu.keep_heap:
            return costs
        layers = tuple(
            replace(
                layer,
                activation_bytes=round(HEAP_FACTOR * layer.activation_bytes),
                recomputed_bytes=round(HEAP_FACTOR * layer.recomputed_bytes),
            )
            for layer in costs.layers
        )
        device = replace(costs.device, state_factor=HEAP_FACTOR * costs.device.state_factor)
        return replace(costs, layers=layers, device=device)

    def _formula(self, rows: int, processes: int) -> StackCosts:
        kind = self.devices.kind
        if self.devices.is_cpu:
            kind = kind.with_threads(self.devices.threads(self.config, processes))
        shape = _shape(self.model, rows=rows, length=self.length)
        speed = kind.speed(self.config.train.precision)
        per_token = self.model.head.outputs_per_token
        return formula_costs(shape, speed=speed, link=kind.link, device=kind.costs(), head_outputs_per_token=per_token)

    def _request(self, rows: int, processes: int) -> Request:
        is_cpu = self.devices.is_cpu
        threads = self.devices.threads(self.config, processes)
        cpu = self.config.cpu.model_copy(update={"threads": threads if is_cpu else None})
        dropout = self.config.model.dropout
        values = self.model.values if dropout is None else {**self.model.values, "hidden_dropout_prob": dropout}
        return Request(
            values,
            self.model.head,
            rows=rows,
            length=self.length,
            train=self.config.train,
            cpu=cpu,
            device="cpu" if is_cpu else "gpu",
            # GPUs have their memory, and its bandwidth, for themselves.
            processes=processes if is_cpu else 1,
        )


def _between(few: StackCosts, many: StackCosts, share: float) -> StackCosts:
    layers = tuple(_layer_between(*pair, share) for pair in zip(few.layers, many.layers, strict=True))
    device = replace(
        many.device,
        base_bytes=_mean(few.device.base_bytes, many.device.base_bytes, share),
        update_s_per_byte=few.device.update_s_per_byte * (1 - share) + many.device.update_s_per_byte * share,
    )
    return StackCosts(layers, many.link, device)


def _layer_between(few: LayerCost, many: LayerCost, share: float) -> LayerCost:
    return replace(
        many,
        forward_s=few.forward_s * (1 - share) + many.forward_s * share,
        backward_s=few.backward_s * (1 - share) + many.backward_s * share,
        activation_bytes=_mean(few.activation_bytes, many.activation_bytes, share),
        recomputed_bytes=_mean(few.recomputed_bytes, many.recomputed_bytes, share),
        output_bytes=_mean(few.output_bytes, many.output_bytes, share),
    )


def _mean(few: int, many: int, share: float) -> int:
    return round(few * (1 - share) + many * share)


def _shape(model: ModelFacts, *, rows: int, length: int) -> Shape:
    values = model.values
    return Shape(
        num_layers=values["num_hidden_layers"],
        hidden_size=values["hidden_size"],
        num_heads=values["num_attention_heads"],
        intermediate_size=values["intermediate_size"],
        vocab_size=values["vocab_size"],
        max_positions=values["max_position_embeddings"],
        type_vocab=values.get("type_vocab_size", 16),
        num_labels=model.head.num_outputs,
        rows=rows,
        length=length,
    )
