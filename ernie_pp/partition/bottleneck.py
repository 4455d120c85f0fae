"""Cutting a row of things into contiguous parts so that the worst part is as good as it can be: exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

# A number of part `part` when it holds the things from `start` to before `end`; infinite: it must not.
Value = Callable[[int, int, int], float]
# By the end reached: the worst value on the best way there, and its ends, the last one first, each with those before.
_Ways = dict[int, tuple[float, tuple]]

# How near the first bound is brought to what the relaxed problem allows.
_TOLERANCE, _MOST_HALVINGS = 1 / 512, 24
_WIDENINGS = (0.0, *(2.0**-power for power in range(12, -1, -1)))


@dataclass(frozen=True)
class Row:
    """`num_things` in `num_parts`, none empty. `lower` is at most `value`, and does not fall when a part grows."""

    num_things: int
    num_parts: int
    value: Value
    lower: Value


def smallest_worst(row: Row, *, ceiling: float) -> float | None:
    """The least possible worst value, of those up to `ceiling`; None where there is none.

    The search looks at cuts whose worst value is up to a bound only, and widens the bound until there is one.
    """
    bound = _relaxed_optimum(row, ceiling)
    if bound is None:
        return None
    for share in _WIDENINGS:
        found = best_within(row, bound + share * (ceiling - bound), value=row.value)
        if found is not None:
            return found[0]
    return None


def best_within(row: Row, bound: float, *, value: Value) -> tuple[float, tuple[int, ...]] | None:
    """The cut with the least worst `value` among those whose parts all have a `row.value` up to `bound`."""
    first, last = _positions(row, bound)
    search = _Search(row, bound, value)
    reached: _Ways = {0: (-inf, ())}
    for part in range(row.num_parts):
        reached = search.extended(reached, part, ends=range(first[part + 1], last[part + 1] + 1))
    if row.num_things not in reached:
        return None
    worst, path = reached[row.num_things]
    return worst, (0, *_unrolled(path))


@dataclass(frozen=True)
class _Search:
    row: Row
    bound: float
    value: Value

    def extended(self, reached: _Ways, part: int, *, ends: range) -> _Ways:
        """The best way to each end of `part` from those to its starts; of equal ones the one cut earliest."""
        row, bound, value = self.row, self.bound, self.value
        best: _Ways = {}
        for start in sorted(reached):
            worst, path = reached[start]
            for end in range(start + 1, ends.stop):
                if row.lower(part, start, end) > bound:
                    break
                if end < ends.start or row.value(part, start, end) > bound:
                    continue
                here = max(worst, value(part, start, end))
                if end not in best or here < best[end][0]:
                    best[end] = (here, (end, path))
        return best


def _unrolled(path: tuple) -> list[int]:
    ends = []
    while path:
        end, path = path
        ends.append(end)
    return ends[::-1]


def _positions(row: Row, bound: float) -> tuple[list[int], list[int]]:
    """Where each boundary can be at the earliest and at the latest."""
    first = [row.num_things]
    for part in reversed(range(row.num_parts)):
        start = first[-1]
        while start > part and row.lower(part, start - 1, first[-1]) <= bound:
            start -= 1
        first.append(start)
    return first[::-1], _latest(row, bound)


def _latest(row: Row, bound: float) -> list[int]:
    last = [0]
    for part in range(row.num_parts):
        end, most = last[-1], row.num_things - (row.num_parts - part - 1)
        while end < most and row.lower(part, last[-1], end + 1) <= bound:
            end += 1
        last.append(end)
    return last


def _relaxed_optimum(row: Row, ceiling: float) -> float | None:
    """Nearly the least bound up to which `lower` lets parts, empty ones too, hold all things; None above `ceiling`."""
    # From below, by doubling: long parts are costly to look at, and a bound that is too low allows short ones only.
    bounds = [0.0, *(ceiling / 2**power for power in range(_MOST_HALVINGS, -1, -1))]
    high = next((bound for bound in bounds if _may_reach(row, bound)), None)
    if high is None:
        return None
    low = 0.0 if high in bounds[:2] else high / 2
    while high - low > _TOLERANCE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _may_reach(row, middle) else (middle, high)
    return high


def _may_reach(row: Row, bound: float) -> bool:
    return _latest(row, bound)[-1] >= row.num_things
