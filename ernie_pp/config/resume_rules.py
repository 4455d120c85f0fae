"""Which settings a run may change when it goes on from a checkpoint, and which others make it another run."""

from __future__ import annotations

from collections.abc import Mapping

from ernie_pp.config.fields import settings_by_key
from ernie_pp.config.merge import merge
from ernie_pp.config.schema import RunConfig

# Sections and keys that do not say what is learned: where things stand (rows are compared by what is in them, the
# model by its tensors), on how many processes and how fast, what is shown and saved.
MAY_CHANGE = (
    "output_dir",
    "overwrite",
    "resume",
    "device",
    "data.train",
    "data.dev",
    "data.test",
    "data.test_split",
    "data.cache_dir",
    "model.name",
    "model.path",
    "model.allow_pickle",
    "model.sizes.vocab",
    "train.micro_batch_tokens",
    "train.log_every",
    "parallel",
    "profile",
    "cpu",
    "checkpoint",
    "stop",
    "export",
)


def changed_settings(saved: Mapping, config: RunConfig) -> list[str]:
    """What differs between a checkpoint's settings and these: `train.learning_rate: 0.001 there, 0.0005 now`."""
    # Settings of an older version may lack keys.
    before = settings_by_key(merge(RunConfig.model_construct().model_dump(mode="json"), saved))
    now = settings_by_key(config.model_dump(mode="json"))
    changed = [name for name, value in now.items() if value != before[name] and not may_change(name)]
    return [f"{name}: {before[name]!r} there, {now[name]!r} now" for name in changed]


def may_change(name: str) -> bool:
    """Whether a key such as `parallel.stages` may differ from the checkpoint's."""
    return any(name == allowed or name.startswith(f"{allowed}.") for allowed in MAY_CHANGE)
