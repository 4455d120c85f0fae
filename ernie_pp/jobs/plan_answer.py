"""The plans for a config on devices that may be elsewhere, and all that is told of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ernie_pp.byte_sizes import format_bytes
from ernie_pp.config import RunConfig
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.device_kinds import kind_named
from ernie_pp.jobs.plan_costs import Costing, Devices
from ernie_pp.jobs.plan_text import (
    plan_drawing,
    plan_fragment,
    plan_picture,
    plan_table,
    plan_words,
    show_grid,
    show_seconds,
)
from ernie_pp.jobs.planning import best_plans, costing_of, find_devices, model_facts, one_device
from ernie_pp.machine import count_cores, memory_bytes
from ernie_pp.partition.costs import Link
from ernie_pp.partition.plan_record import Plan
from ernie_pp.report import Content, write_report


@dataclass(frozen=True)
class Wanted:
    """Devices of the command line; None: as they are here."""

    count: int | None = None
    kind: str | None = None
    link_bytes_per_s: float | None = None


@dataclass(frozen=True)
class Answer:
    """Plans, best first, and what they were made for."""

    config: RunConfig
    costing: Costing
    plans: Sequence[Plan]

    def text(self, *, top: int) -> str:
        """Heading, the best few, the case for one device, the drawing and the settings."""
        blocks = [
            self._heading(),
            plan_table(self._best_of_each_grid()[:top]),
            self._one_device(),
            plan_drawing(self.plans[0]),
        ]
        return "\n\n".join([*blocks, f"settings:  {plan_words(self.plans[0])}"])

    def fragment(self) -> str:
        """The `parallel:` section of the best plan."""
        best, devices = self.plans[0], self.costing.devices
        for_what = f"{devices.count} x {devices.kind.name}, {self.config.train.batch_size} rows of {best.length} tokens"
        return plan_fragment(best, note=f"For {for_what}: {show_seconds(best.step_s)} a step predicted.")

    def write_report(self, path: Path) -> None:
        """A page with the drawing of the best plan."""
        best = self.plans[0]
        picture = plan_picture(best, limit_bytes=self.costing.devices.memory_of_one(best.num_devices))
        heading, *facts = self._facts()
        note = f"{show_seconds(best.step_s)} a step, {best.tokens_per_s:,.0f} tokens/s predicted"
        about = Content(f"plan: {heading[1]}", show_grid(best), note, facts, [self._one_device()])
        write_report(path, replace(about, plan=picture, mistakes=None))

    def _best_of_each_grid(self) -> list[Plan]:
        """Plans that differ by more than their micro-batches."""
        best: dict[tuple[int, int, int], Plan] = {}
        for plan in self.plans:
            best.setdefault((plan.stages, plan.replicas, plan.virtual_stages), plan)
        return list(best.values())

    def _heading(self) -> str:
        return "\n".join(f"{name:10} {value}" for name, value in self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        config, devices, costing = self.config, self.costing.devices, self.costing
        model = config.model.name or config.model.path or "random weights"
        shared = " shared by its processes" if devices.is_shared else " each"
        link = f"{format_bytes(devices.kind.link.bytes_per_s)}/s between them"
        costs = "measured here" if costing.cache is not None else "by the formula"
        return [
            ("model", f"{model}: {costing.model}"),
            ("step", f"{config.train.batch_size} rows of {costing.length} tokens, {config.train.precision}"),
            ("devices", f"{devices.count} x {devices.kind.name}, {format_bytes(devices.memory_bytes)}{shared}, {link}"),
            ("costs", costs),
        ]

    def _one_device(self) -> str:
        return one_device(self.costing, self.plans)


def find_plans(config: RunConfig, wanted: Wanted, *, length: int | None) -> Answer:
    """All plans that fit, best first; ConfigError where none does."""
    model = model_facts(config)
    costing = costing_of(config, model, _devices(config, wanted), length=length)
    positions = model.values["max_position_embeddings"]
    if costing.length > positions:
        what = f"is {costing.length}, and the model has {positions} positions"
        raise ConfigError("--length" if length else "text.max_length", what, f"Take {positions} or less.")
    return Answer(config, costing, best_plans(costing))


def _devices(config: RunConfig, wanted: Wanted) -> Devices:
    devices = find_devices(config)
    if wanted.kind is not None and wanted.kind != devices.kind.name:
        devices = _elsewhere(config, wanted.kind, devices)
    count, kind = wanted.count or devices.count, devices.kind
    here = devices.cores is None and count <= devices.count
    if wanted.link_bytes_per_s is not None:
        kind = replace(kind, link=Link(wanted.link_bytes_per_s, kind.link.latency_s))
    return replace(devices, count=count, kind=kind, cores=None if here else max(count, devices.cores or 1))


def _elsewhere(config: RunConfig, name: str, here: Devices) -> Devices:
    """Devices of a kind that this machine has not, one of them."""
    if config.parallel.costs == "measured":
        what = f"is {name}, and costs are measured here, on {here.kind.name}"
        raise ConfigError("--device-kind", what, "Leave out --measure (and parallel.costs: measured).")
    kind = kind_named(name)
    given = here.memory_bytes if config.parallel.memory is not None else None
    if kind.memory_bytes is None:
        return Devices(kind, count_cores(), given or memory_bytes(), is_shared=given is None, cores=count_cores())
    return Devices(kind, 1, given or kind.memory_bytes)
