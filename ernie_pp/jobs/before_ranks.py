"""What would end every process of a grid alike, told before any of them is started and without loading Paddle."""

from __future__ import annotations

from importlib import metadata

from ernie_pp.config import RunConfig
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.data_files import check_files
from ernie_pp.parallel.topology import check_gradient_type
from ernie_pp.training.cpu_types import check_cpu_precision


def check_before_ranks(config: RunConfig) -> None:
    """ConfigError or DataError for a device, a number type or a file that is not there."""
    is_cpu = config.device == "cpu" or not _has_gpu_wheel()
    if config.device == "gpu" and is_cpu:
        what = "is gpu, and the installed Paddle is the CPU wheel"
        raise ConfigError("device", what, "Install the GPU wheel, or set device=cpu.")
    if is_cpu:
        check_cpu_precision(config.train)
    check_gradient_type(config.parallel.gradient_type, is_cpu=is_cpu)
    check_files(config.data)


def _has_gpu_wheel() -> bool:
    try:
        metadata.distribution("paddlepaddle-gpu")
    except metadata.PackageNotFoundError:
        return False
    return True
