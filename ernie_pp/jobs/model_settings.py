"""What a model folder of ours says beside PaddleNLP's config: enough to evaluate and export it without the run."""

from __future__ import annotations

from typing import Any

from ernie_pp import __version__
from ernie_pp.config import RunConfig
from ernie_pp.tasks.interface import Decoding, Task

# How rows were read, as a model folder says it.
COLUMNS = ("text", "text_pair", "header", "quoting")


def build_model_settings(config: RunConfig, task: Task, *, decoding: Decoding, step: int, dev: dict) -> dict[str, Any]:
    """Task with its own settings, text settings, how rows are read, decision rule, and the dev figures they gave."""
    return {
        "ernie_pp": __version__,
        "task": config.task,
        "text": config.text.settled(),
        "head": task.head_spec.to_json(),
        "columns": {name: getattr(config.data, name) for name in COLUMNS},
        **task.stored_settings(),
        "decode": decoding.to_json(),
        "step": step,
        "dev": dev,
    }
