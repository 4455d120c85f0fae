"""Number types that a CPU does not compute in; asked before Paddle is loaded, and again where it is used."""

from __future__ import annotations

from ernie_pp.config.schema import TrainConfig
from ernie_pp.errors import ConfigError


def check_cpu_precision(config: TrainConfig) -> None:
    """ConfigError for mixed precision: Paddle 3.3 accepts it on a CPU, and computes in float32 all the same."""
    if config.precision != "fp32":
        where = f"train.precision {config.precision}"
        raise ConfigError(where, "a CPU trains in fp32 (Paddle would do so in silence)", "Set train.precision: fp32.")
