"""One split of a run's data: its examples, and the rows of tokens made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ernie_pp.data.row_targets import RowTargets
from ernie_pp.data.token_rows import TokenRows


@dataclass(frozen=True)
class Split:
    """Examples in the order of their file, and their rows: one an example, or one a window of it."""

    name: str
    source: str
    examples: Sequence[Any]
    rows: TokenRows

    @property
    def targets(self) -> np.ndarray | RowTargets:
        """What the task has to learn of each row."""
        assert self.rows.targets is not None, "its reader sets them"
        return self.rows.targets
