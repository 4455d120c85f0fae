"""Choosing where to compute, before anything is loaded there."""

from __future__ import annotations

from typing import Literal

import paddle

from ernie_pp.errors import ConfigError


def set_device(wanted: Literal["auto", "cpu", "gpu"], *, num_processes: int = 1) -> Literal["cpu", "gpu"]:
    """Make Paddle compute on the wanted device and say which it is.

    Each of `num_processes` on this machine has a GPU of its own. ConfigError where a GPU is asked for in vain.
    """
    is_gpu_wheel = paddle.device.is_compiled_with_cuda()
    num_gpus = paddle.device.cuda.device_count() if is_gpu_wheel else 0
    if wanted == "gpu" and not num_gpus:
        what = f"is gpu, and the installed Paddle {'sees no GPU' if is_gpu_wheel else 'is the CPU wheel'}"
        raise ConfigError("device", what, "Install the GPU wheel, or set device=cpu.")
    device = "gpu" if num_gpus and wanted != "cpu" else "cpu"
    if device == "gpu" and num_gpus < num_processes:
        what = f"is {wanted}, and each of {num_processes} processes needs a GPU of its own: Paddle sees {num_gpus}"
        raise ConfigError("device", what, "Ask for a smaller grid (parallel), or set device=cpu.")
    paddle.device.set_device(device)
    return device
