"""A cut of the stack, with what it costs; the best one there is for given settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from ernie_pp.partition.bottleneck import Row, best_within, smallest_worst
from ernie_pp.partition.order import held_chunks
from ernie_pp.partition.parts import Parts
from ernie_pp.partition.recompute import Choice

# Sums in another order round otherwise; no bound shall be missed by that.
_ROUNDING = 1 + 1e-9

Span = tuple[int, int, int]  # a part, its first layer, the layer after its last


@dataclass(frozen=True)
class Cut:
    """Contiguous parts of the layers; part `chunk * stages + stage` is a stage's chunk."""

    boundaries: tuple[int, ...]  # 0, the first layer of each further part, the number of layers
    recomputed: tuple[int, ...]  # layer indexes
    part_forward_s: tuple[float, ...]  # one micro-batch
    part_backward_s: tuple[float, ...]  # with the second forward pass of recomputed layers
    stage_bytes: tuple[int, ...]  # of each stage at its fullest moment, Paddle itself counted
    slowest_s: float  # both passes of the slowest part and what it waits for from its neighbours


def best_cut(parts: Parts) -> Cut | None:
    """The cut with the least `slowest_s`, of equal ones one with the least memory; None where nothing fits.

    With virtual stages under a memory limit the chunks of a stage share its memory, and the shares are tried, not
    searched: the cut fits, and where the limit does not bind it is the best.
    """
    cut = _best_in_rooms(parts)
    if cut is None or _fits(parts, cut):
        return cut
    for shares in (_shares_of_need(parts, cut.boundaries), [1 / parts.pipeline.virtual_stages] * parts.num_parts):
        _set_shares(parts, shares)
        shared = _best_in_rooms(parts)
        if shared is not None:
            return shared
    return None


def cut_along(parts: Parts, boundaries: tuple[int, ...]) -> Cut | None:
    """The cut of given boundaries, with the least recomputing that makes it fit; None where it does not."""
    cut = cut_at(parts, boundaries)
    if cut is None or _fits(parts, cut):
        return cut
    _set_shares(parts, _shares_of_need(parts, boundaries))
    return cut_at(parts, boundaries)


def cut_at(parts: Parts, boundaries: tuple[int, ...]) -> Cut | None:
    """The costs of given boundaries; None where a part does not fit."""
    spans = _spans(boundaries)
    choices = [parts.choice(*span) for span in spans]
    if any(choice is None for choice in choices):
        return None
    chosen = [choice for choice in choices if choice is not None]
    runs = [parts.costs.layers[start:end] for _, start, end in spans]
    forward_s = [sum(layer.forward_s for layer in run) for run in runs]
    backward_s = [sum(layer.backward_s for layer in run) for run in runs]
    recomputed = (start + bit for (_, start, _), choice in zip(spans, chosen, strict=True) for bit in _bits(choice))
    return Cut(
        boundaries=boundaries,
        recomputed=tuple(recomputed),
        part_forward_s=tuple(forward_s),
        part_backward_s=tuple(seconds + choice.added_s for seconds, choice in zip(backward_s, chosen, strict=True)),
        stage_bytes=tuple(_stage_bytes(parts, spans, chosen)),
        slowest_s=max(parts.time_s(*span) for span in spans),
    )


def least_needs(parts: Parts) -> list[float]:
    """Bytes each stage needs in the cut, and with the recomputing, that asks the least of the fullest part."""
    row = Row(parts.num_layers, parts.num_parts, parts.least_bytes, parts.least_bytes)
    worst = smallest_worst(row, ceiling=parts.most_bytes() * _ROUNDING)
    assert worst is not None, "there is a cut for any memory"
    found = best_within(row, worst, value=parts.least_bytes)
    assert found is not None, "the search has met this cut before"
    return _least_stage_needs(parts, found[1])


def _best_in_rooms(parts: Parts) -> Cut | None:
    row = Row(parts.num_layers, parts.num_parts, parts.time_s, parts.least_s)
    slowest_s = smallest_worst(row, ceiling=parts.most_s() * _ROUNDING)
    if slowest_s is None:
        return None
    found = best_within(row, slowest_s, value=parts.needed_bytes)
    assert found is not None, "the search has met this cut before"
    return cut_at(parts, found[1])


def _fits(parts: Parts, cut: Cut) -> bool:
    limit = parts.wanted.memory_bytes
    return limit is None or max(cut.stage_bytes) <= limit


def _set_shares(parts: Parts, shares: list[float]) -> None:
    """Give each part its share of what the limit leaves a device."""
    parts.set_room(None)
    parts.set_room([room * share for room, share in zip(parts.rooms, shares, strict=True)])


def _shares_of_need(parts: Parts, boundaries: tuple[int, ...]) -> list[float]:
    """Of the memory of its stage, what each part gets: by the least that it needs."""
    needs, num_stages = _least_part_needs(parts, boundaries), parts.pipeline.num_stages
    return [need / (sum(needs[part % num_stages :: num_stages]) or 1) for part, need in enumerate(needs)]


def _least_part_needs(parts: Parts, boundaries: tuple[int, ...]) -> list[float]:
    return [parts.least_bytes(*span) for span in _spans(boundaries)]


def _least_stage_needs(parts: Parts, boundaries: tuple[int, ...]) -> list[float]:
    needs, num_stages = _least_part_needs(parts, boundaries), parts.pipeline.num_stages
    return [parts.costs.device.base_bytes + sum(needs[stage::num_stages]) for stage in range(num_stages)]


def _stage_bytes(parts: Parts, spans: Sequence[Span], chosen: Sequence[Choice]) -> Iterator[int]:
    """Of each stage, with all its chunks at the moment that asks for the most."""
    num_stages = parts.pipeline.num_stages
    state = [parts.state_bytes(start, end) for _, start, end in spans]
    for stage in range(num_stages):
        own = chosen[stage::num_stages]
        kept = max(
            sum(count * choice.kept_bytes for count, choice in zip(counts, own, strict=True))
            for counts in held_chunks(parts.pipeline, stage)
        )
        working = max(choice.working_bytes for choice in own)
        yield ceil(parts.costs.device.base_bytes + sum(state[stage::num_stages]) + kept + working)


def _spans(boundaries: Sequence[int]) -> list[Span]:
    return [(part, start, end) for part, (start, end) in enumerate(pairwise(boundaries))]


def _bits(choice: Choice) -> list[int]:
    return [bit for bit in range(choice.layers.bit_length()) if choice.layers >> bit & 1]
