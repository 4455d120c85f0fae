"""Settings: the schema of every key, and loading with all problems in one report."""

from ernie_pp.config.check import check_config
from ernie_pp.config.fields import describe_keys
from ernie_pp.config.load import dump_config, load_config
from ernie_pp.config.schema import (
    ClsConfig,
    CpuConfig,
    DataConfig,
    ExportConfig,
    ModelConfig,
    ParallelConfig,
    ProfileConfig,
    RunConfig,
    SizesConfig,
    TextConfig,
    TrainConfig,
)

__all__ = [
    "ClsConfig",
    "CpuConfig",
    "DataConfig",
    "ExportConfig",
    "ModelConfig",
    "ParallelConfig",
    "ProfileConfig",
    "RunConfig",
    "SizesConfig",
    "TextConfig",
    "TrainConfig",
    "check_config",
    "describe_keys",
    "dump_config",
    "load_config",
]
