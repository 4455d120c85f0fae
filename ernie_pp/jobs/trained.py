"""A model folder of ours opened: its settings and decision rule, checked against the model they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from ernie_pp.config.schema import TextConfig
from ernie_pp.errors import ModelError
from ernie_pp.export.batches import Batch, load_batches
from ernie_pp.jobs.model_settings import COLUMNS
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.sizes import count_labels, read_config
from ernie_pp.tasks import load_codec
from ernie_pp.training.model_folder import SETTINGS, read_settings

CHECK_ROWS = "check_rows.safetensors"
_ADVICE = "Copy the folder again, whole, or train again."


@dataclass(frozen=True)
class Trained:
    """What a run has put into best/ beside the weights; `sizes` are config.json's values."""

    folder: Path
    settings: Mapping[str, Any]
    decoding: Any
    head: HeadSpec
    sizes: Mapping[str, Any]


def open_trained(folder: Path) -> Trained:
    """The settings of a model folder; ModelError where they are damaged or those of another model."""
    settings, sizes = read_settings(folder), read_config(folder)
    where = str(folder / SETTINGS)
    try:
        decoding = load_codec(settings["task"]).decode.DecodeSettings.from_json(settings["decode"])
        head = HeadSpec.from_json(settings["head"])
        _check_text(settings["text"], sizes)
        _check_columns(settings["columns"])
    except (ValueError, TypeError) as error:
        raise ModelError(where, f"is damaged: {error}", _ADVICE) from error
    values = settings["label_values"]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ModelError(where, f"is damaged: label_values is {values!r}, expected a list of texts", _ADVICE)
    if len(decoding.labels) != len(values):
        what = f"names {len(decoding.labels)} labels and {len(values)} values of labels"
        raise ModelError(where, what, _ADVICE)
    counts = {decoding.num_outputs, head.num_outputs, count_labels(sizes, folder)}
    if len(counts) > 1:
        what = (
            f"names {decoding.num_outputs} outputs and a head of {head.num_outputs}, and the model has "
            f"{count_labels(sizes, folder)}"
        )
        raise ModelError(where, what, _ADVICE)
    return Trained(folder, settings, decoding, head, sizes)


def read_check_rows(model: Trained) -> list[Batch]:
    """The rows stored for the check of an export, each of them one that the model can take."""
    path = model.folder / CHECK_ROWS
    try:
        batches = load_batches(path)
    except KeyError as error:
        raise ModelError(str(path), f"is damaged: it lacks {error}", _ADVICE) from error
    if not batches:
        raise ModelError(str(path), "holds no rows, and an export is checked on some", _ADVICE)
    for batch in batches:
        problem = _problem_of_batch(batch, model.sizes)
        if problem is not None:
            raise ModelError(str(path), problem, _ADVICE)
    return batches


def _check_text(text: object, sizes: Mapping[str, Any]) -> None:
    if not isinstance(text, dict) or not text.keys() >= {"max_length", "truncate", "overlap"}:
        raise ValueError(f"text is {text!r}, expected max_length, truncate and overlap")
    try:
        names = ("max_length", "truncate", "overlap", "ranked_windows")
        max_length = TextConfig(**{name: text[name] for name in names if name in text}).max_length
    except ValidationError as error:
        raise ValueError(f"text is {text!r}: {error.errors()[0]['msg']}") from error
    if max_length > sizes["max_position_embeddings"]:
        raise ValueError(f"text.max_length is {max_length}, the model has {sizes['max_position_embeddings']} positions")


def _check_columns(columns: object) -> None:
    if not isinstance(columns, dict) or set(columns) != set(COLUMNS) or not isinstance(columns["text"], str):
        raise ValueError(f"columns is {columns!r}, expected {', '.join(COLUMNS)}")


def _problem_of_batch(batch: Sequence[np.ndarray], sizes: Mapping[str, Any]) -> str | None:
    """What would end Paddle, not give an error: it looks up ids unchecked."""
    limits = {"ids": sizes["vocab_size"], "token types": sizes.get("type_vocab_size", 16)}
    if batch[0].shape != batch[1].shape or batch[0].ndim != 2 or not batch[0].size:
        return f"holds ids of shape {batch[0].shape} and token types of shape {batch[1].shape}, expected [rows, length]"
    if batch[0].shape[1] > sizes["max_position_embeddings"]:
        return f"holds a row of {batch[0].shape[1]} tokens, the model has {sizes['max_position_embeddings']} positions"
    for (name, limit), array in zip(limits.items(), batch, strict=True):
        if array.dtype != np.int64 or array.min() < 0 or array.max() >= limit:
            return f"holds {name} ({array.dtype}) that are not all whole numbers from 0 to {limit - 1}"
    return None
