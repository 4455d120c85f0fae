"""Model folders in PaddleNLP's layout, written whole or not at all: config.json, model.safetensors, vocabulary."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file

from ernie_pp.bounded import read_json
from ernie_pp.durable import replaced_folder
from ernie_pp.errors import ModelError, RunError
from ernie_pp.models.sizes import CONFIG
from ernie_pp.models.weights import SAFETENSORS

SETTINGS = "ernie_pp.json"
NEEDED_SETTINGS = ("task", "text", "columns", "head", "label_values", "decode", "step", "dev")
# A config of thousands of labels is far below.
_MAX_SETTINGS_BYTES = 100_000_000
_ADVICE = "Give a folder that a run of ernie_pp wrote (its best/)."


def save_model_folder(
    folder: Path,
    *,
    weights: Mapping[str, np.ndarray],
    config: Mapping[str, object],
    settings: Mapping[str, object],
    save_extras: Callable[[Path], None],
) -> None:
    """Replace `folder` by one that PaddleNLP's own from_pretrained opens.

    `weights` are by canonical ERNIE names, `config` is the ErnieConfig's, `settings` is what ernie_pp adds: task,
    labels, decoding, step; `save_extras` adds further files (vocabulary). The old folder stays whole until the new
    one is on disk.
    """
    with _told_as_full(folder), replaced_folder(folder) as temporary:
        save_file(
            {name: np.ascontiguousarray(value) for name, value in weights.items()},
            temporary / SAFETENSORS,
            metadata={"format": "np"},
        )
        for name, values in ((CONFIG, config), (SETTINGS, settings)):
            (temporary / name).write_text(json.dumps(values, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        save_extras(temporary)


def read_settings(folder: Path) -> dict:
    """What `save_model_folder` was given as `settings`."""
    settings = read_json(folder / SETTINGS, max_bytes=_MAX_SETTINGS_BYTES, error=ModelError, do=_ADVICE)
    if not isinstance(settings, dict) or not settings.keys() >= set(NEEDED_SETTINGS):
        raise _not_ours(folder, f"has a {SETTINGS} without {', '.join(NEEDED_SETTINGS)}")
    return settings


@contextlib.contextmanager
def _told_as_full(folder: Path) -> Iterator[None]:
    """RunError for what safetensors says of a file that it could not write."""
    try:
        yield
    except SafetensorError as error:
        raise RunError(str(folder), f"cannot be written: {error}", "Make room on the disk.") from error


def _not_ours(folder: Path, what: str) -> ModelError:
    return ModelError(str(folder), what, _ADVICE)
