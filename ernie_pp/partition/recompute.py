"""Which of a part's layers to compute again in the backward pass: the least added time that fits into memory.

A front holds, of all choices for a run of layers, those that no other choice beats in added time, kept bytes and
working bytes together. Layers with the same numbers lead to the same front, so a stack of like blocks has few.
"""

from __future__ import annotations

from typing import NamedTuple

from ernie_pp.partition.costs import LayerCost

# All choices for 12 layers. Where more are left (many layers of which no two are alike), some are let go: what is
# chosen then still fits, but another choice might add less.
_MOST_CHOICES = 4096


class Choice(NamedTuple):
    """What recomputing some layers of a run means; bit i of `layers` is the run's layer i."""

    added_s: float
    kept_bytes: int  # from forward to backward, a micro-batch
    working_bytes: int  # while the largest recomputed layer's own backward pass runs
    layers: int


# What may be done with one layer; bit 0 of a choice's `layers` says that it is recomputed.
Options = tuple[Choice, ...]


def layer_options(layer: LayerCost, *, keep: bool, recompute: bool) -> Options:
    """The ways a layer may go; one of the two at least."""
    kept = Choice(0.0, layer.activation_bytes, 0, 0)
    again = Choice(layer.forward_s, layer.recomputed_bytes, layer.activation_bytes, 1)
    return (kept,) * keep + (again,) * recompute


class Front:
    """The choices for a run of layers, by added time."""

    def __init__(self, choices: list[Choice], *, num_layers: int) -> None:
        self.choices, self.num_layers = choices, num_layers
        self._longer: dict[int, Front] = {}
        self._cheapest: dict[tuple[int, float], Choice | None] = {}
        self._fewest: dict[int, int] = {}

    def with_layer(self, kind: int, options: Options) -> Front:
        """The front of this run and one layer more; the same object for the same kind, a number for the options."""
        if kind not in self._longer:
            self._longer[kind] = Front(_unbeaten(self._extended(options)), num_layers=self.num_layers + 1)
        return self._longer[kind]

    def cheapest(self, *, held: int, room_bytes: float) -> Choice | None:
        """The choice of least added time with `held` micro-batches in flight; None where none fits."""
        key = (held, room_bytes)
        if key not in self._cheapest:
            fitting = (choice for choice in self.choices if choice_bytes(choice, held=held) <= room_bytes)
            self._cheapest[key] = next(fitting, None)
        return self._cheapest[key]

    def fewest_bytes(self, *, held: int) -> int:
        """The least memory any choice needs."""
        if held not in self._fewest:
            self._fewest[held] = min(choice_bytes(choice, held=held) for choice in self.choices)
        return self._fewest[held]

    def _extended(self, options: Options) -> list[Choice]:
        bit = 1 << self.num_layers
        return [
            Choice(
                choice.added_s + more.added_s,
                choice.kept_bytes + more.kept_bytes,
                max(choice.working_bytes, more.working_bytes),
                choice.layers | bit * more.layers,
            )
            for more in options
            for choice in self.choices
        ]


def empty_front() -> Front:
    """The front of no layer, from which all are made."""
    return Front([Choice(0.0, 0, 0, 0)], num_layers=0)


def choice_bytes(choice: Choice, *, held: int) -> int:
    """Bytes of activations at the fullest moment."""
    return held * choice.kept_bytes + choice.working_bytes


def _unbeaten(choices: list[Choice]) -> list[Choice]:
    """Those for which no other is at least as good in every respect; by added time, then kept bytes."""
    left: list[Choice] = []
    stairs: list[Choice] = []  # of those so far, the ones not beaten in bytes
    for choice in sorted(choices):
        if any(one.kept_bytes <= choice.kept_bytes and one.working_bytes <= choice.working_bytes for one in stairs):
            continue
        left.append(choice)
        stairs = [one for one in stairs if not _needs_no_more(choice, one)] + [choice]
    return left if len(left) <= _MOST_CHOICES else left[:: -(-len(left) // _MOST_CHOICES)] + left[-1:]


def _needs_no_more(choice: Choice, other: Choice) -> bool:
    return choice.kept_bytes <= other.kept_bytes and choice.working_bytes <= other.working_bytes
