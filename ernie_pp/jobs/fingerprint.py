"""What a run learns from, as a short text that changes with it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from ernie_pp.data.row_targets import RowTargets
from ernie_pp.data.split import Split
from ernie_pp.errors import DataError
from ernie_pp.jobs.prepare import Prepared
from ernie_pp.training.checkpoint.saved import Checkpoint

# The test rows are read once, at the end, and may be others.
_COMPARED = ("train", "dev")


def fingerprint(prepared: Prepared) -> dict[str, str]:
    """SHA-256 of the tokens and targets of the training and dev rows, in their order, and of the labels' names."""
    labels = hashlib.sha256("\n".join(prepared.task.label_names).encode("utf-8", "surrogatepass")).hexdigest()
    return {"labels": labels, **{name: _of_rows(prepared.splits[name]) for name in _COMPARED}}


def check_same_data(found: Checkpoint, prepared: Prepared) -> None:
    """DataError where the rows, or the labels, are not those that the checkpoint's run was trained on."""
    saved, now = found.manifest.run.get("data"), fingerprint(prepared)
    saved = saved if isinstance(saved, Mapping) else {}
    for name, value in now.items():
        if saved.get(name) != value:
            raise _changed(name, found, prepared)


def _changed(name: str, found: Checkpoint, prepared: Prepared) -> DataError:
    if name == "labels":
        where, what = "labels", "the labels, or their order, are"
    else:
        where, what = prepared.splits[name].source, f"the {name} rows (their number, order, tokens or labels) are"
    step = found.manifest.step
    return DataError(
        where,
        f"{what} not those that {found.folder} was trained on up to step {step}",
        "Give the same rows to go on, or start anew: resume=never, with overwrite=true or another output_dir.",
    )


def _arrays(targets: np.ndarray | RowTargets | None) -> tuple[np.ndarray, ...]:
    if isinstance(targets, RowTargets):
        return targets.starts, targets.values
    return () if targets is None else (targets,)


def _of_rows(split: Split) -> str:
    digest = hashlib.sha256()
    rows = split.rows
    for array in (rows.lengths, rows.ids, rows.type_ids, *_arrays(rows.targets)):
        array = np.ascontiguousarray(array)
        digest.update(f"{array.dtype} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
