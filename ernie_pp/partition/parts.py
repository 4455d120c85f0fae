"""What a run of layers costs as one part of a pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf
from typing import Literal

from ernie_pp.errors import ConfigError
from ernie_pp.partition.costs import LayerCost, StackCosts
from ernie_pp.partition.order import Pipeline, check_pipeline, held_chunks
from ernie_pp.partition.recompute import Choice, Front, Options, choice_bytes, empty_front, layer_options

# Block numbers from 0, as in the config; block i is layer i + 1.
Recompute = Literal["none", "all", "auto"] | tuple[int, ...]


@dataclass(frozen=True)
class Wanted:
    """What a cut is looked for."""

    pipeline: Pipeline
    memory_bytes: int | None = None  # of one device; None: no limit
    recompute: Recompute = "none"


def without_limit(wanted: Wanted) -> Wanted:
    """The same with more memory than anything needs: with no limit at all there would be nothing to recompute for."""
    return replace(wanted, memory_bytes=1 << 62)


def check_wanted(costs: StackCosts, wanted: Wanted) -> None:
    """ConfigError for settings that no cut of this stack has."""
    check_pipeline(wanted.pipeline)
    num_parts, num_layers = wanted.pipeline.num_parts, len(costs.layers)
    if num_layers < num_parts:
        key = "parallel.stages" if wanted.pipeline.virtual_stages == 1 else "parallel.virtual_stages"
        what = f"cuts the model into {num_parts} parts, it has {num_layers} layers with embeddings and head"
        raise ConfigError(key, what, f"Take {num_layers} parts or fewer.")
    if wanted.memory_bytes is not None and wanted.memory_bytes < 1:
        raise ConfigError("parallel.memory", f"is {wanted.memory_bytes}, at least one byte was expected", "Give more.")
    if isinstance(wanted.recompute, tuple):
        _check_blocks(costs.layers, wanted.recompute)
    elif wanted.recompute not in ("none", "all", "auto"):
        what = f"is {wanted.recompute!r}, expected none, all, auto or numbers of blocks"
        raise ConfigError("parallel.recompute", what, "Give one of these.")


class Parts:
    """Times and bytes of any run of layers as any part; `start` and `end` are layer indexes, `end` not included.

    time: both passes of the layers, the forward pass of the recomputed ones again, and one transfer for each neighbour:
    the part waits for its input from below and for its gradient from above, what it sends goes beside its work.
    bytes: weights with gradients and optimizer state, activations of the micro-batches in flight, and those of the
    largest recomputed layer once more.
    """

    def __init__(self, costs: StackCosts, wanted: Wanted) -> None:
        check_wanted(costs, wanted)
        self.costs, self.wanted, self.pipeline = costs, wanted, wanted.pipeline
        layers = costs.layers
        self.num_layers, self.num_parts = len(layers), wanted.pipeline.num_parts
        self._both_s = _sums(layer.forward_s + layer.backward_s for layer in layers)
        self._state_bytes = _sums(layer.parameter_bytes * costs.device.state_factor for layer in layers)
        self.transfer_s = [costs.link.transfer_s(layer.output_bytes) for layer in layers[:-1]]
        self._waits_s = [0.0, *self.transfer_s, 0.0]  # by boundary
        self._least_wait_s = min(self.transfer_s, default=0.0)
        self.held = _held_by_part(self.pipeline)
        # Of layers that are all kept; None where some must be recomputed.
        may_keep = wanted.recompute in ("none", "auto")
        self._kept_bytes = _sums(layer.activation_bytes for layer in layers) if may_keep else None
        self._options = _options(layers, wanted)
        kinds = {options: kind for kind, options in enumerate(dict.fromkeys(self._options))}
        self._kinds = [kinds[options] for options in self._options]
        self._fronts: list[list[Front]] = [[empty_front()]] * self.num_layers
        self.set_room(None)

    def set_room(self, rooms: Sequence[float] | None) -> None:
        """How many bytes each part may need at most; without numbers: all that the limit leaves a device."""
        limit = self.wanted.memory_bytes
        everything = inf if limit is None else limit - self.costs.device.base_bytes
        self.rooms = rooms or [everything] * self.num_parts

    def choice(self, part: int, start: int, end: int) -> Choice | None:
        """The layers to recompute, by the least added time; None where no choice fits."""
        room = self.rooms[part] - self.state_bytes(start, end)
        if self._kept_bytes is not None:  # without a look at the many ways to recompute
            kept = round(self._kept_bytes[end] - self._kept_bytes[start])
            if self.held[part] * kept <= room:
                return Choice(0.0, kept, 0, 0)
        return self._front(start, end).cheapest(held=self.held[part], room_bytes=room)

    def time_s(self, part: int, start: int, end: int) -> float:
        """Seconds a micro-batch; infinite where it does not fit."""
        return self._own_s(part, start, end) + self._waits_s[start] + self._waits_s[end]

    def least_s(self, part: int, start: int, end: int) -> float:
        """Not more than `time_s`, and not more for fewer layers."""
        # Added one by one as in `time_s`, so that rounding cannot lift this above that.
        below = self._least_wait_s if part > 0 else 0.0
        above = self._least_wait_s if part < self.num_parts - 1 else 0.0
        return self._own_s(part, start, end) + below + above

    def needed_bytes(self, part: int, start: int, end: int) -> float:
        """Without Paddle itself, with the layers that `choice` recomputes; infinite where it does not fit."""
        choice = self.choice(part, start, end)
        return inf if choice is None else self.state_bytes(start, end) + choice_bytes(choice, held=self.held[part])

    def state_bytes(self, start: int, end: int) -> float:
        """Weights, gradients and optimizer state."""
        return self._state_bytes[end] - self._state_bytes[start]

    def least_bytes(self, part: int, start: int, end: int) -> float:
        """Without Paddle itself, with the choice that needs the least: never more for fewer layers."""
        return self.state_bytes(start, end) + self._front(start, end).fewest_bytes(held=self.held[part])

    def most_s(self) -> float:
        """No part takes longer."""
        again = sum(layer.forward_s for layer in self.costs.layers)
        return self._both_s[-1] + again + 2 * max(self._waits_s)

    def most_bytes(self) -> float:
        """No part needs more."""
        layers = self.costs.layers
        kept = sum(max(layer.activation_bytes, layer.recomputed_bytes) for layer in layers)
        return self._state_bytes[-1] + max(self.held) * kept + max(layer.activation_bytes for layer in layers)

    def _own_s(self, part: int, start: int, end: int) -> float:
        choice = self.choice(part, start, end)
        return inf if choice is None else self._both_s[end] - self._both_s[start] + choice.added_s

    def _front(self, start: int, end: int) -> Front:
        if len(self._fronts[start]) == 1:
            self._fronts[start] = self._fronts[start][:]
        fronts = self._fronts[start]
        while len(fronts) <= end - start:
            layer = start + len(fronts) - 1
            fronts.append(fronts[-1].with_layer(self._kinds[layer], self._options[layer]))
        return fronts[end - start]


def _sums(numbers: Iterable[float]) -> list[float]:
    return list(accumulate(numbers, initial=0))


def _held_by_part(pipeline: Pipeline) -> list[int]:
    """Most micro-batches in flight of each part."""
    moments = [held_chunks(pipeline, stage) for stage in range(pipeline.num_stages)]
    return [
        max(counts[part // pipeline.num_stages] for counts in moments[part % pipeline.num_stages])
        for part in range(pipeline.num_parts)
    ]


def _options(layers: Sequence[LayerCost], wanted: Wanted) -> list[Options]:
    mode, free = wanted.recompute, wanted.memory_bytes is not None
    made = []
    for index, layer in enumerate(layers):
        again = layer.can_recompute and (index - 1 in mode if isinstance(mode, tuple) else mode in ("all", "auto"))
        # Where memory has no limit it asks for no recomputing.
        either = mode == "auto" and layer.can_recompute
        made.append(layer_options(layer, keep=not again or either, recompute=again and (free or not either)))
    return made


def _check_blocks(layers: Sequence[LayerCost], blocks: tuple[int, ...]) -> None:
    known = [index - 1 for index, layer in enumerate(layers) if layer.can_recompute]
    wrong = sorted(set(blocks) - set(known))
    if wrong:
        span = f"blocks {known[0]} to {known[-1]}" if known else "none"
        raise ConfigError("parallel.recompute", f"names block {wrong[0]}, the model has {span}", "Name others.")
