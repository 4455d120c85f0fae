"""The model of a run, as its ranks share it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ernie_pp.models.stack import ErnieStack
from ernie_pp.parallel.step import StepEngine


@dataclass(frozen=True)
class Model:
    """The stack, of which a rank keeps its own layers only, what trains it, and the size of the whole."""

    stack: ErnieStack
    engine: StepEngine
    shapes: Mapping[str, tuple[int, ...]]  # of the whole model's weights

    @property
    def num_parameters(self) -> int:
        """Of the whole model."""
        return sum(math.prod(shape) for shape in self.shapes.values())
