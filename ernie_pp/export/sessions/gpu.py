"""Paddle Inference on a GPU: fp16, and TensorRT where the library has it. Not run by the tests, which have no GPU."""

from __future__ import annotations

import logging
from typing import Any

from ernie_pp.export.bundle import Bundle

LOG = logging.getLogger("ernie_pp")
_POOL_MB = 256
_WORKSPACE_BYTES = 1 << 30
_LEAST_OPERATORS = 5  # of a subgraph that is worth handing to TensorRT


def count_gpus() -> int:
    """GPUs that Paddle sees; 0 of its CPU wheel. Imports Paddle."""
    import paddle

    return paddle.device.cuda.device_count() if paddle.device.is_compiled_with_cuda() else 0


def use_gpu(config: Any, bundle: Bundle, *, half: Any, tensorrt: bool) -> None:
    """Put a predictor's config on the first GPU, in fp16; `half` is Paddle's PrecisionType.Half.

    TensorRT needs the ranges of shapes that were collected from the dev rows at export; rows outside of them are
    computed by Paddle itself.
    """
    config.enable_use_gpu(_POOL_MB, 0, half)
    if not tensorrt:
        return
    config.enable_tensorrt_engine(
        workspace_size=_WORKSPACE_BYTES,
        max_batch_size=bundle.manifest["shapes"]["max"][0],
        min_subgraph_size=_LEAST_OPERATORS,
        precision_mode=half,
        use_static=False,
        use_calib_mode=False,
    )
    shapes, names = bundle.manifest["shapes"], bundle.manifest["inputs"]
    config.set_trt_dynamic_shape_info(*(dict.fromkeys(names, shapes[end]) for end in ("min", "max", "opt")))
