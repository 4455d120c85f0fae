"""What a user is told where no cut fits into memory: by how much, and which changes make one fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ernie_pp.byte_sizes import format_bytes
from ernie_pp.errors import ConfigError
from ernie_pp.partition.costs import LayerCost, StackCosts
from ernie_pp.partition.cut import best_cut, least_needs
from ernie_pp.partition.parts import Parts, Wanted, without_limit
from ernie_pp.partition.step_time import step_seconds

# What is tried: micro-batches of a share of the rows; so many stages more, and so many times as many.
_DIVISORS = (2, 4, 8, 16, 32, 64)
_MORE, _TIMES = (1, 2, 3, 4, 5, 6, 7, 8), (2, 3, 4, 6, 8, 16)


@dataclass(frozen=True)
class Change:
    """Other settings, in words; costs change too where the micro-batch does."""

    words: str
    costs: StackCosts
    wanted: Wanted


def nothing_fits(costs: StackCosts, wanted: Wanted) -> ConfigError:
    """The error for settings that `best_cut` finds nothing for."""
    limit = wanted.memory_bytes
    assert limit is not None, "without a limit everything fits"
    needs = least_needs(Parts(costs, without_limit(wanted)))
    stage = needs.index(max(needs))
    what = (
        f"is {format_bytes(limit)} of a device; stage {stage} of {len(needs)} needs {format_bytes(needs[stage])} even "
        f"in the cut that needs the least, {format_bytes(needs[stage] - limit)} more"
    )
    return ConfigError("parallel.memory", what, _advice(costs, wanted))


def _advice(costs: StackCosts, wanted: Wanted) -> str:
    recompute = "recompute" if wanted.recompute not in ("all", "auto") else "recompute (in use already)"
    single = {
        recompute: _first_that_fits(_recomputing(costs, wanted)),
        "a smaller micro-batch": _first_that_fits(_smaller_micro_batches(costs, wanted)),
        "more stages": _first_that_fits(_more_stages(costs, wanted)),
    }
    found = [one for one in single.values() if one]
    if len(found) < 3 and wanted.recompute == "none":
        both = replace(wanted, recompute="auto")
        pairs = (_smaller_micro_batches(costs, both), _more_stages(costs, both))
        found += [one for one in map(_first_that_fits, pairs) if one]
    cheapest = sorted(found, key=lambda one: one[0])[:3]
    lines = [f"{change.words} (a step would take about {seconds:.3g} s)" for seconds, change in cheapest]
    helpless = [name for name, one in single.items() if one is None]
    lines = ["Change one of these, the fastest first:", *lines] if lines else []
    return "\n".join(lines + ([f"Alone this does not help: {', '.join(helpless)}."] if helpless else []))


def _first_that_fits(changes: Iterator[Change]) -> tuple[float, Change] | None:
    """The first change for which there is a cut, with the step's predicted seconds."""
    for change in changes:
        try:
            parts = Parts(change.costs, change.wanted)
        except ConfigError:  # not with so many stages, or micro-batches
            continue
        cut = best_cut(parts)
        if cut is not None:
            return step_seconds(change.costs, cut, change.wanted.pipeline), change
    return None


def _recomputing(costs: StackCosts, wanted: Wanted) -> Iterator[Change]:
    if wanted.recompute not in ("all", "auto"):
        yield Change("parallel.recompute: auto", costs, replace(wanted, recompute="auto"))


def _smaller_micro_batches(costs: StackCosts, wanted: Wanted) -> Iterator[Change]:
    pipeline = wanted.pipeline
    for divisor in _DIVISORS:
        count = pipeline.num_micro_batches * divisor
        words = f"micro-batches of 1/{divisor} of the rows, parallel.micro_batches: {count}" + _also(wanted)
        changed = replace(wanted, pipeline=replace(pipeline, num_micro_batches=count))
        smaller = tuple(_with_fewer_rows(layer, divisor) for layer in costs.layers)
        yield Change(words, replace(costs, layers=smaller), changed)


def _more_stages(costs: StackCosts, wanted: Wanted) -> Iterator[Change]:
    pipeline = wanted.pipeline
    num_stages = pipeline.num_stages
    numbers = {num_stages + more for more in _MORE} | {num_stages * times for times in _TIMES}
    for stages in sorted(numbers):
        changed = replace(wanted, pipeline=replace(pipeline, num_stages=stages))
        yield Change(f"parallel.stages: {stages}" + _also(wanted), costs, changed)


def _also(wanted: Wanted) -> str:
    return " with parallel.recompute: auto" if wanted.recompute == "auto" else ""


def _with_fewer_rows(layer: LayerCost, divisor: int) -> LayerCost:
    """Times and activations of a micro-batch go with its rows, the weights do not."""
    return replace(
        layer,
        forward_s=layer.forward_s / divisor,
        backward_s=layer.backward_s / divisor,
        activation_bytes=-(-layer.activation_bytes // divisor),
        recomputed_bytes=-(-layer.recomputed_bytes // divisor),
        output_bytes=-(-layer.output_bytes // divisor),
    )
