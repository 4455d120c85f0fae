"""The lines of the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One figure against its limit."""

    name: str
    measured: float
    limit: float
    at_most: bool = True  # else: at least
    unit: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the figure is within its limit."""
        return self.measured <= self.limit if self.at_most else self.measured >= self.limit

    def __str__(self) -> str:
        sign = "<=" if self.at_most else ">="
        verdict = "ok" if self.is_met else "SHORT"
        return f"{self.name:64} {self.measured:>11.4g}{self.unit:3} {sign} {self.limit:<8.4g} {verdict}"


def num_short(lines: Iterable[Line]) -> int:
    """How many lines are not met."""
    return sum(not line.is_met for line in lines)
