"""From tokenized rows to the micro-batches of a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ernie_pp.data.row_targets import RowTargets
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import ConfigError


@dataclass(frozen=True)
class MicroBatch:
    """Rows computed together, padded to the longest of them only."""

    input_ids: np.ndarray  # int64 [rows, length]
    token_type_ids: np.ndarray  # int64 [rows, length]
    targets: np.ndarray | None  # the task's own, [rows, ...]; None: not known
    row_indexes: np.ndarray  # int64 [rows], places in the token rows they were taken from


def check_token_budget(lengths: np.ndarray, *, max_tokens: int) -> None:
    """Raise ConfigError when one row alone is longer than a micro-batch may be; to be called before the first step."""
    longest = int(lengths.max(initial=0))
    if longest > max_tokens:
        raise ConfigError(
            "train.micro_batch_tokens",
            f"is {max_tokens}, and the longest row has {longest} tokens",
            "Raise it, or lower text.max_length.",
        )


def cut_micro_batches(lengths: np.ndarray, rows: np.ndarray, *, max_tokens: int) -> list[np.ndarray]:
    """The rows in as few micro-batches as the budget allows (longest row x number of rows <= max_tokens).

    The longest row left decides how many fit with it, and the next longest join it: no other choice leaves
    shorter rows for the micro-batches that follow. The longest come first, so a lack of memory shows at once.
    """
    check_token_budget(lengths[rows], max_tokens=max_tokens)
    by_length = _longest_first(lengths, rows)
    micro_batches: list[np.ndarray] = []
    start = 0
    while start < len(by_length):
        num_rows = max_tokens // max(int(lengths[by_length[start]]), 1)
        micro_batches.append(by_length[start : start + num_rows])
        start += num_rows
    return micro_batches


@dataclass(frozen=True)
class StepCut:
    """How the rows of a step are cut: `replicas` share them, each as a pipeline of `stages`.

    `micro_batches` of one replica; None: as few as the budget of tokens allows, and with stages enough to fill them.
    """

    max_tokens: int
    stages: int = 1
    replicas: int = 1
    micro_batches: int | None = None

    @property
    def least(self) -> int:
        """Fewest micro-batches of one replica that make its pipeline worth having: three in four stages busy."""
        return 1 if self.stages == 1 else 4 * self.stages


def cut_step(lengths: np.ndarray, rows: np.ndarray, cut: StepCut) -> list[np.ndarray]:
    """The micro-batches of one step; replica r of R computes those at r, r + R, r + 2 R and so on.

    They do not depend on the rank, and one process gives the same results for the same list.
    """
    if cut.micro_batches is not None:
        return cut_equal_micro_batches(lengths, rows, num_micro_batches=cut.micro_batches * cut.replicas)
    if cut.stages * cut.replicas == 1:
        return cut_micro_batches(lengths, rows, max_tokens=cut.max_tokens)
    check_token_budget(lengths[rows], max_tokens=cut.max_tokens)
    count = cut.replicas * max(1, min(cut.least, len(rows) // cut.replicas))
    while True:
        parts = cut_equal_micro_batches(lengths, rows, num_micro_batches=count)
        if all(len(part) * int(lengths[part].max(initial=0)) <= cut.max_tokens for part in parts):
            return parts
        count += cut.replicas


def cut_equal_micro_batches(lengths: np.ndarray, rows: np.ndarray, *, num_micro_batches: int) -> list[np.ndarray]:
    """Exactly `num_micro_batches` of like lengths, as a pipeline needs; sizes differ by one row at most.

    With fewer rows than that the last ones are empty.
    """
    return np.array_split(_longest_first(lengths, rows), num_micro_batches)


def order_for_evaluation(lengths: np.ndarray, max_tokens: int) -> list[np.ndarray]:
    """All rows in micro-batches of like lengths; `row_indexes` puts results back into the user's order."""
    return cut_micro_batches(lengths, np.arange(len(lengths)), max_tokens=max_tokens)


def build_micro_batch(token_rows: TokenRows, rows: np.ndarray, pad_id: int) -> MicroBatch:
    """The named rows as rectangles, padded at their ends to the longest of them (no rows: [0, 1])."""
    lengths = token_rows.lengths[rows]
    width = int(lengths.max(initial=1))
    is_token = np.arange(width) < lengths[:, None]  # [rows, width]
    places = token_rows.token_places(rows)
    input_ids = np.full(is_token.shape, pad_id, dtype=np.int64)
    input_ids[is_token] = token_rows.ids[places]
    token_type_ids = np.zeros(is_token.shape, dtype=np.int64)
    token_type_ids[is_token] = token_rows.type_ids[places]
    return MicroBatch(input_ids, token_type_ids, _targets_of(token_rows, rows), np.asarray(rows, dtype=np.int64))


def rows_of_batch(input_ids: np.ndarray, token_type_ids: np.ndarray, *, pad_id: int) -> TokenRows:
    """The rows of such rectangles, where nothing else is left of them: a token's place is its index in its row."""
    is_token = input_ids != pad_id
    lengths = is_token.sum(axis=1)
    places = np.broadcast_to(np.arange(input_ids.shape[1]), input_ids.shape)[is_token]
    return TokenRows(
        ids=input_ids[is_token].astype(np.int32),
        type_ids=token_type_ids[is_token].astype(np.int8),
        row_starts=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)]),
        num_cut=np.zeros(len(lengths), np.int32),
        offsets=np.column_stack([places, places + 1]).astype(np.int32),
    )


def _targets_of(token_rows: TokenRows, rows: np.ndarray) -> np.ndarray | None:
    if token_rows.targets is None:
        return None
    targets = token_rows.targets[rows]
    return targets.padded() if isinstance(targets, RowTargets) else targets


def _longest_first(lengths: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return rows[np.argsort(-lengths[rows], kind="stable")]
