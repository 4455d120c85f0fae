"""The user's rows: read and checked, tokenised once, and put into micro-batches."""

from ernie_pp.data.batches import (
    MicroBatch,
    build_micro_batch,
    check_token_budget,
    cut_equal_micro_batches,
    cut_micro_batches,
    order_for_evaluation,
)
from ernie_pp.data.cache import cache_key, load_or_build
from ernie_pp.data.faults import Faults, excerpt, nearest_advice
from ernie_pp.data.fingerprint import file_fingerprint
from ernie_pp.data.order import order_steps, shard_step
from ernie_pp.data.rows import Fault, Place, Row
from ernie_pp.data.statistics import describe_lengths, describe_split, find_overlap, is_blank
from ernie_pp.data.token_rows import TokenRows

__all__ = [
    "Fault",
    "Faults",
    "MicroBatch",
    "Place",
    "Row",
    "TokenRows",
    "build_micro_batch",
    "cache_key",
    "check_token_budget",
    "cut_equal_micro_batches",
    "cut_micro_batches",
    "describe_lengths",
    "describe_split",
    "excerpt",
    "file_fingerprint",
    "find_overlap",
    "is_blank",
    "load_or_build",
    "nearest_advice",
    "order_for_evaluation",
    "order_steps",
    "shard_step",
]
