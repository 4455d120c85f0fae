"""Which pieces of a text (or pair) stay under a length limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ernie_pp.choices import Truncate
from ernie_pp.errors import ConfigError, DataError

# [CLS] a [SEP], and [CLS] a [SEP] b [SEP].
NUM_SPECIAL, NUM_SPECIAL_OF_PAIR = 2, 3


@dataclass(frozen=True)
class TooLong:
    """A text that may not be cut and is longer than its limit, both in tokens; `index` is its place in a list."""

    index: int
    length: int
    limit: int
    advice: str = "Shorten it, raise text.max_length, or set text.truncate to cut it."


def kept_lengths(
    lengths: np.ndarray, pair_lengths: np.ndarray | None, *, max_length: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """How many pieces of each text, and of each second text, fit into `max_length` tokens.

    Of a pair the longer text is cut first: each text may use what the other leaves, and is sure of half of the
    room (the first text of the odd piece). This is one rule for training and serving; PaddleNLP's differs.
    """
    room = max_length - (NUM_SPECIAL if pair_lengths is None else NUM_SPECIAL_OF_PAIR)
    texts_of_row = 1 if pair_lengths is None else 2
    if room < texts_of_row:
        raise ConfigError(
            "text.max_length",
            f"{max_length} leaves no token for {'each text of a pair' if texts_of_row == 2 else 'the text'} "
            f"beside [CLS] and [SEP]; at least {max_length - room + texts_of_row} is needed",
        )
    if pair_lengths is None:
        return np.minimum(lengths, room), None
    kept = np.minimum(lengths, np.maximum(room - pair_lengths, room - room // 2))
    return kept, np.minimum(pair_lengths, room - kept)


def kept_pieces(row_starts: np.ndarray, kept: np.ndarray, *, truncate: Truncate) -> np.ndarray:
    """Indexes of the pieces that stay, all rows on end: the first, the last, or the first and last `kept` of each."""
    num_heads = {"head": kept, "tail": np.zeros_like(kept), "middle": kept - kept // 2, "error": kept}[truncate]
    within = places_within(kept)
    num_cut = np.diff(row_starts) - kept
    after_cut = within >= np.repeat(num_heads, kept)
    return within + np.repeat(row_starts[:-1], kept) + after_cut * np.repeat(num_cut, kept)


def places_within(lengths: np.ndarray) -> np.ndarray:
    """0, 1, ... up to each length, on end."""
    return np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def check_nothing_cut(num_cut: np.ndarray, lengths: np.ndarray, *, max_length: int, first_row: int) -> None:
    """Raise for the first row that is longer than the limit; `lengths` counts its tokens before cutting."""
    if not num_cut.any():
        return
    index = int(np.flatnonzero(num_cut)[0])
    raise DataError(
        f"row {first_row + index} (counted from 0)",
        f"{lengths[index]} tokens; text.max_length allows {max_length} and text.truncate is error",
        "Shorten the text, raise text.max_length, or set text.truncate to head, tail or middle.",
    )
