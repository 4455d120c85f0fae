"""Choosing where to compute, before anything is loaded there."""

from __future__ import annotations

from typing import Literal

import paddle

from ernie_pp.errors import ConfigError


def set_device(wanted: Literal["auto", "cpu", "gpu"]) -> Literal["cpu", "gpu"]:
    """Make Paddle compute on the wanted device and say which it is; ConfigError where a GPU is asked for in vain."""
    has_gpu = paddle.device.is_compiled_with_cuda() and paddle.device.cuda.device_count() > 0
    if wanted == "gpu" and not has_gpu:
        built = "sees no GPU" if paddle.device.is_compiled_with_cuda() else "is the CPU wheel"
        what = f"is gpu, and the installed Paddle {built}"
        raise ConfigError("device", what, "Install the GPU wheel, or set device=cpu.")
    device = "gpu" if has_gpu and wanted != "cpu" else "cpu"
    paddle.device.set_device(device)
    return device
