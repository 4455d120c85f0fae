"""Rows of other splits that stand in train too: their figures flatter the model."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from ernie_pp.data.statistics import Overlap, find_overlap
from ernie_pp.jobs.figures import say_count
from ernie_pp.jobs.prepare import Prepared

LOG = logging.getLogger("ernie_pp")
FLATTERS = "its figures flatter the model"


def find_overlaps(prepared: Prepared) -> Mapping[str, Overlap]:
    """By name, what each other split shares with train: rows with a text, or about a document, that is there too."""
    group_of, splits = prepared.task.group_of, prepared.splits
    train = [group_of(example) for example in splits["train"].examples]
    others = {name: split.examples for name, split in splits.items() if name != "train"}
    return {name: find_overlap([group_of(one) for one in own], train) for name, own in others.items()}


def warn_of_overlap(prepared: Prepared) -> None:
    """Say what is shared, before the hours of training."""
    for name, overlap in find_overlaps(prepared).items():
        if overlap.num_rows:
            rows = f"{say_count(overlap.num_rows, 'row')} ({100 * overlap.share:.1f} %)"
            LOG.warning("%s: %s with a text or document that is in train too: %s", name, rows, FLATTERS)
