"""Numbers that tell what a split holds before anything is trained on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

PERCENTILES = (50, 75, 90, 95, 99)


@dataclass(frozen=True)
class SplitStatistics:
    """Rows and texts of one split; a text that comes several times is a duplicate from the second time on."""

    num_rows: int
    label_counts: dict[str, int]  # by frequency, then by name
    num_unlabelled: int  # rows with no label at all
    num_duplicates: int  # rows whose text (and pair) an earlier row has, with whatever labels
    num_conflicts: int  # distinct texts that come with different labels
    conflicts: tuple[int, ...]  # row indexes of the first conflicts, each beside the row it contradicts


@dataclass(frozen=True)
class Overlap:
    """Rows of one split whose text another split has too."""

    num_rows: int
    share: float  # of the rows


@dataclass(frozen=True)
class LengthStatistics:
    """Lengths of rows, in tokens or characters."""

    num_rows: int
    mean: float
    percentiles: dict[int, int]  # PERCENTILES
    longest: int
    num_over: int  # rows longer than the limit; 0 without one


def describe_split(
    texts: Sequence[str],
    labels: Sequence[Iterable[str]],
    *,
    text_pairs: Sequence[str] | None = None,
    num_shown: int = 5,
) -> SplitStatistics:
    """Statistics of rows that each have some labels (one, several or none)."""
    named = [tuple(sorted(one)) for one in labels]
    first_rows: dict[object, int] = {}
    conflicting: dict[object, int] = {}
    keys = _keys(texts, text_pairs)
    for index, key in enumerate(keys):
        first = first_rows.setdefault(key, index)
        if named[first] != named[index]:
            conflicting.setdefault(key, index)
    shown = list(conflicting.items())[:num_shown]
    counts = Counter(label for one in named for label in one)
    return SplitStatistics(
        num_rows=len(texts),
        label_counts=dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        num_unlabelled=sum(not one for one in named),
        num_duplicates=len(texts) - len(first_rows),
        num_conflicts=len(conflicting),
        conflicts=tuple(row for key, index in shown for row in (first_rows[key], index)),
    )


def find_overlap(texts: Sequence[str], other_texts: Sequence[str]) -> Overlap:
    """How many rows of the first split (dev) have a text that is also in the other one (train)."""
    others = set(other_texts)
    num_common = sum(text in others for text in texts)
    return Overlap(num_common, num_common / len(texts) if texts else 0.0)


def describe_lengths(lengths: Sequence[int] | np.ndarray, *, limit: int | None = None) -> LengthStatistics:
    """Percentiles are lengths that occur: p of 100 rows are not longer."""
    values = np.asarray(lengths, dtype=np.int64)
    if not len(values):
        return LengthStatistics(0, 0.0, dict.fromkeys(PERCENTILES, 0), 0, 0)
    found = np.percentile(values, PERCENTILES, method="inverted_cdf")
    return LengthStatistics(
        num_rows=len(values),
        mean=float(values.mean()),
        percentiles={percent: int(one) for percent, one in zip(PERCENTILES, found, strict=True)},
        longest=int(values.max()),
        num_over=0 if limit is None else int((values > limit).sum()),
    )


def _keys(texts: Sequence[str], pairs: Sequence[str] | None) -> Sequence[object]:
    return texts if pairs is None else list(zip(texts, pairs, strict=True))
