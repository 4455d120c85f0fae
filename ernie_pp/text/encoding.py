"""The tokens of one text (or pair), each with its place in the text as the user gave it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Encoding:
    """Tokens of one row, [CLS] and [SEP] included.

    `offsets[i]` is the start and end (exclusive), in code points of the raw text, of the characters token i came
    from: `text[start:end]`, or `text_pair[start:end]` where `type_ids[i]` is 1. Special tokens have (-1, -1).
    `num_cut` counts the tokens a length limit removed.
    """

    ids: np.ndarray  # int32 [length]
    type_ids: np.ndarray  # int32 [length]
    offsets: np.ndarray  # int32 [length, 2]
    num_cut: int
