"""Which rows make up each step: reproducible from seed, epoch and step, and the same on every replica."""

from __future__ import annotations

import numpy as np


def order_steps(
    lengths: np.ndarray, *, batch_size: int, bucket_batches: int, seed: int, epoch: int
) -> list[np.ndarray]:
    """Row indexes of every step of one epoch, each row once: int64 [batch_size], the last step with the rest.

    Rows are shuffled, sorted by length inside pools of `bucket_batches` batches, cut into batches, and these are
    shuffled again. The rest is taken from the shuffled rows before the sorting, so it is not always the longest.
    """
    keys = _random_keys(len(lengths), seed=seed, epoch=epoch, stream=0)
    shuffled = np.argsort(keys, kind="stable")
    num_full = len(shuffled) // batch_size
    full, rest = np.split(shuffled, [num_full * batch_size])
    batches: list[np.ndarray] = []
    for start in range(0, len(full), batch_size * bucket_batches):
        pool = full[start : start + batch_size * bucket_batches]
        by_length = pool[np.argsort(lengths[pool], kind="stable")]
        batches += list(by_length.reshape(-1, batch_size))
    order = np.argsort(_random_keys(num_full, seed=seed, epoch=epoch, stream=1), kind="stable")
    steps = [batches[index] for index in order]
    return [*steps, rest] if len(rest) else steps


def shard_step(rows: np.ndarray, *, rank: int, num_ranks: int) -> np.ndarray:
    """The rows of one step that fall to a replica: every num_ranks-th, so sizes differ by one at most.

    Every replica makes every step. One whose share of a last, smaller step is empty computes nothing there and
    joins the sums over all replicas with zeros; the loss is divided by the number of real rows of all of them.
    """
    return rows[rank::num_ranks]


def _random_keys(count: int, *, seed: int, epoch: int, stream: int) -> np.ndarray:
    # Raw bits are the only stream that NumPy promises to keep the same in later versions.
    return np.random.PCG64([seed, epoch, stream]).random_raw(count)
