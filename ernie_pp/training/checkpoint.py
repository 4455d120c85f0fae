"""Model folders in PaddleNLP's layout, written whole or not at all: config.json, model.safetensors, vocabulary."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from ernie_pp.errors import RunError

WEIGHTS, CONFIG, SETTINGS = "model.safetensors", "config.json", "ernie_pp.json"


def save_model_folder(
    folder: Path,
    *,
    weights: Mapping[str, np.ndarray],
    config: Mapping[str, object],
    settings: Mapping[str, object],
    save_tokenizer: Callable[[Path], None],
) -> None:
    """Replace `folder` by one that PaddleNLP's own from_pretrained opens.

    `weights` are by canonical ERNIE names, `config` is the ErnieConfig's, `settings` is what ernie_pp adds: task,
    labels, decoding, step. The old folder stays whole until the new one is on disk.
    """
    with replaced_folder(folder) as temporary:
        save_file(
            {name: np.ascontiguousarray(value) for name, value in weights.items()},
            temporary / WEIGHTS,
            metadata={"format": "np"},
        )
        for name, values in ((CONFIG, config), (SETTINGS, settings)):
            (temporary / name).write_text(json.dumps(values, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        save_tokenizer(temporary)


@contextlib.contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Give a temporary folder to fill; when the block ends well it is synced and takes the place of `folder`."""
    temporary, old = (folder.with_name(f".{folder.name}.{kind}") for kind in ("tmp", "old"))
    if old.exists() and not folder.exists():
        os.rename(old, folder)  # a process died between the two renames below
    for leftover in (temporary, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        temporary.mkdir(parents=True)
        yield temporary
        sync_folder(temporary)
        if folder.exists():
            os.rename(folder, old)
        os.rename(temporary, folder)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        raise RunError(str(folder), what, "Make room on the disk, or check the rights.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Force every file of a folder, and the folder itself, to the disk."""
    for path in [*(path for path in folder.rglob("*") if path.is_file()), folder]:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_settings(folder: Path) -> dict:
    """What `save_model_folder` was given as `settings`."""
    try:
        return json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        what = f"has no readable {SETTINGS}: {error}"
        raise RunError(str(folder), what, "Give a folder that a run of ernie_pp wrote (its best/).") from error
