"""A share of the training examples kept from training, to choose the best checkpoint on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ernie_pp.errors import DataError


def hold_out(
    examples: Sequence[Any], groups: Sequence[str], *, share: float, seed: int, source: str
) -> tuple[list[Any], list[Any]]:
    """(train, dev): about `share` of the groups, drawn with `seed`, are dev; examples of a group stay together.

    `groups[i]` is what example i shares with others: its text or its document. DataError where one part would be empty.
    """
    different = list(dict.fromkeys(groups))
    count = round(share * len(different))
    if not 0 < count < len(different):
        what = f"has {len(different)} different texts, of which data.dev_share {share} holds out {count}"
        raise DataError(source, what, "Name a file of its own: data.dev, or set another share.")
    drawn = np.random.default_rng(seed).permutation(len(different))[:count]
    held = {different[index] for index in drawn}
    kept: tuple[list[Any], list[Any]] = ([], [])
    for example, group in zip(examples, groups, strict=True):
        kept[group in held].append(example)
    return kept
