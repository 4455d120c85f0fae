"""What a model folder of ours says beside PaddleNLP's config: enough to evaluate and export it without the run."""

from __future__ import annotations

from typing import Any

from ernie_pp import __version__
from ernie_pp.config import RunConfig


def build_model_settings(config: RunConfig, task: Any, *, decoding: Any, step: int, dev: dict) -> dict[str, Any]:
    """Task, text settings, columns, labels by value, decision rule, and the dev figures they gave."""
    return {
        "ernie_pp": __version__,
        "task": config.task,
        "text": {"max_length": config.text.max_length, "truncate": config.text.truncate},
        "columns": {"text": config.data.text, "text_pair": config.data.text_pair},
        "label_values": list(task.labels.values),
        "decode": decoding.to_json(),
        "step": step,
        "dev": dev,
    }
