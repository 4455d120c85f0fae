"""From the pieces of texts to rows of tokens: cut to the limit, [CLS] and [SEP] around."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ernie_pp.choices import Truncate
from ernie_pp.text.encoding import EncodedRows
from ernie_pp.text.pieces import Pieces
from ernie_pp.text.truncation import (
    NUM_SPECIAL,
    NUM_SPECIAL_OF_PAIR,
    check_nothing_cut,
    kept_lengths,
    kept_pieces,
    places_within,
)


@dataclass(frozen=True)
class RowRules:
    """How rows are laid out."""

    cls_id: int
    sep_id: int
    max_length: int
    truncate: Truncate
    offsets: bool = True
    first_row: int = 0  # number of the first row, for messages


def build_rows(first: Pieces, second: Pieces | None, *, rules: RowRules) -> EncodedRows:
    """[CLS] a [SEP] with type 0, and for a pair b [SEP] with type 1 after it."""
    lengths = row_lengths(first, second)
    pair_lengths = None if second is None else np.diff(second.row_starts)
    kept, pair_kept = kept_lengths(np.diff(first.row_starts), pair_lengths, max_length=rules.max_length)
    sizes = kept + NUM_SPECIAL if pair_kept is None else kept + pair_kept + NUM_SPECIAL_OF_PAIR
    num_cut = lengths - sizes
    if rules.truncate == "error":
        check_nothing_cut(num_cut, lengths, max_length=rules.max_length, first_row=rules.first_row)
    rows = _empty_rows(sizes, num_cut, rules=rules)
    begins = rows.row_starts[:-1]
    rows.ids[begins] = rules.cls_id
    rows.ids[begins + 1 + kept] = rules.sep_id
    _fill(rows, first, begins=begins + 1, kept=kept, truncate=rules.truncate)
    if second is not None and pair_kept is not None:
        pair_begins = begins + kept + 2
        rows.ids[pair_begins + pair_kept] = rules.sep_id
        rows.type_ids[np.repeat(pair_begins, pair_kept + 1) + places_within(pair_kept + 1)] = 1
        _fill(rows, second, begins=pair_begins, kept=pair_kept, truncate=rules.truncate)
    return rows


def row_lengths(first: Pieces, second: Pieces | None) -> np.ndarray:
    """Tokens of each row before any cut, [CLS] and [SEP] counted; int64 [rows]."""
    if second is None:
        return np.diff(first.row_starts) + NUM_SPECIAL
    return np.diff(first.row_starts) + np.diff(second.row_starts) + NUM_SPECIAL_OF_PAIR


def _empty_rows(sizes: np.ndarray, num_cut: np.ndarray, *, rules: RowRules) -> EncodedRows:
    row_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return EncodedRows(
        ids=np.empty(row_starts[-1], np.int32),
        type_ids=np.zeros(row_starts[-1], np.int32),
        offsets=np.full((row_starts[-1], 2), -1, np.int32) if rules.offsets else None,
        row_starts=row_starts,
        num_cut=num_cut,
    )


def _fill(rows: EncodedRows, pieces: Pieces, *, begins: np.ndarray, kept: np.ndarray, truncate: Truncate) -> None:
    """Copy the pieces that stay to the places from `begins` on."""
    places = np.repeat(begins, kept) + places_within(kept)
    taken = kept_pieces(pieces.row_starts, kept, truncate=truncate)
    rows.ids[places] = pieces.ids[taken]
    if rows.offsets is not None:
        rows.offsets[places, 0] = pieces.starts[taken]
        rows.offsets[places, 1] = pieces.ends[taken]
