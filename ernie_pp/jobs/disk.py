"""How much room a run's results take on the disk, from sizes alone."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from ernie_pp.byte_sizes import format_bytes
from ernie_pp.config import RunConfig
from ernie_pp.models.sizes import num_parameters

# Weights and AdamW's two moments, in fp32.
_CHECKPOINT_BYTES_PER_PARAMETER, _MODEL_BYTES_PER_PARAMETER = 12, 4


def describe_disk(values: Mapping[str, int], config: RunConfig) -> str:
    """What checkpoints, best/ and the bundle take at most, beside what is free where they would stand."""
    parameters = num_parameters(values)
    checkpoint = _CHECKPOINT_BYTES_PER_PARAMETER * parameters
    # Those that stay, the best model's, and one that is being written.
    num_checkpoints = config.checkpoint.keep + 2 if config.checkpoint.enabled else 0
    # An old best/ and the new one stand side by side for a moment.
    num_models = 3 if config.export.enabled else 2
    total = num_checkpoints * checkpoint + num_models * _MODEL_BYTES_PER_PARAMETER * parameters
    free = shutil.disk_usage(_nearest_folder(Path(config.output_dir))).free
    fits = "fits" if total < free else "does NOT fit: make room, or set checkpoint.enabled=false"
    each = f" ({num_checkpoints} checkpoints of {format_bytes(checkpoint)} at once)" if num_checkpoints else ""
    return f"{format_bytes(total)}{each}; {format_bytes(free)} are free: {fits}"


def _nearest_folder(path: Path) -> Path:
    path = path.absolute()
    return next(folder for folder in (path, *path.parents) if folder.is_dir())
