"""The labels of a run: their values in the data, their shown names, their order."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ernie_pp.errors import ConfigError
from ernie_pp.nearest import nearest_name

_NUMBER = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True)
class LabelSet:
    """Labels in a fixed order. `values` is what the data says, `names` what predictions say."""

    values: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def from_config(cls, labels: Sequence[str] | Mapping[str, str]) -> LabelSet:
        """A list names the labels by their values; a mapping gives each value a name of its own."""
        if isinstance(labels, Mapping):
            return cls(tuple(labels), tuple(labels.values()))
        return cls(tuple(labels), tuple(labels))

    @classmethod
    def from_data(cls, values: Iterable[str], *, least: Literal[1, 2] = 2) -> LabelSet:
        """The distinct values, in the order of numbers where all are numbers, else of code points.

        ConfigError for fewer than `least` of them: a text has one of at least two labels, or some of at least one.
        """
        distinct = set(values)
        if len(distinct) < least:
            needed = "two labels are" if least == 2 else "one label is"
            what = f"the training rows hold {sorted(distinct)}; at least {needed} needed"
            raise ConfigError("labels", what, "Check data.label.")
        numeric = all(_NUMBER.fullmatch(value) for value in distinct)
        # "1" and "01" are two labels with one number: the text decides between them.
        ordered = tuple(sorted(distinct, key=lambda value: (int(value), value)) if numeric else sorted(distinct))
        return cls(ordered, ordered)

    def __len__(self) -> int:
        return len(self.values)

    def index_of(self, value: str) -> int | None:
        """Position of a label given by its value or its name; None where it is neither."""
        return self._positions.get(value)

    def nearest(self, value: str) -> str | None:
        """The known label that looks most like `value`, for an error message."""
        return nearest_name(value, [*self.values, *self.names])

    @functools.cached_property
    def _positions(self) -> dict[str, int]:
        # A value wins over another label's name.
        return {name: i for i, name in enumerate(self.names)} | {value: i for i, value in enumerate(self.values)}
