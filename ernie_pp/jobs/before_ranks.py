"""What would end every process of a grid alike, told before any of them is started and without loading Paddle."""

from __future__ import annotations

from importlib import metadata

from ernie_pp.config import RunConfig
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.data_files import check_files


def check_before_ranks(config: RunConfig) -> None:
    """ConfigError or DataError for a device, a number type or a file that is not there."""
    is_cpu = config.device == "cpu" or not _has_gpu_wheel()
    if config.device == "gpu" and is_cpu:
        what = "is gpu, and the installed Paddle is the CPU wheel"
        raise ConfigError("device", what, "Install the GPU wheel, or set device=cpu.")
    if is_cpu and config.train.precision != "fp32":
        what = "a CPU trains in fp32 (Paddle would do so in silence)"
        raise ConfigError(f"train.precision {config.train.precision}", what, "Set train.precision: fp32.")
    if is_cpu and config.parallel.gradient_type == "fp16":
        what = "is fp16, and sums over the processes of a CPU come out infinite in it"
        raise ConfigError("parallel.gradient_type", what, "Set parallel.gradient_type to bf16 or fp32.")
    check_files(config.data)


def _has_gpu_wheel() -> bool:
    try:
        metadata.distribution("paddlepaddle-gpu")
    except metadata.PackageNotFoundError:
        return False
    return True
