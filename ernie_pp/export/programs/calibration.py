"""Ranges of activations measured on rows, so that a program can be computed in int8."""

from __future__ import annotations

from collections.abc import Sequence

import paddle
from paddle.quantization import QAT, QuantConfig
from paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver

from ernie_pp.errors import RunError
from ernie_pp.export.batches import Batch
from ernie_pp.export.programs.inference_model import InferenceModel

_MOVING_RATE = 0.9


def calibrate(model: InferenceModel, batches: Sequence[Batch]) -> paddle.nn.Layer:
    """A copy whose linear layers know the scale of weights and inputs; RunError where there is no row to measure on.

    The scale is a moving average of each batch's largest absolute value. Products of attention stay in fp32: in int8
    they lose a third of the decisions, while they are a small part of the work. Parameters stay fp32 in the file.
    """
    if not batches:
        raise RunError("--precision int8", "is calibrated on rows, and none came", "Give --data FILE.")
    quantizer = FakeQuanterWithAbsMaxObserver(moving_rate=_MOVING_RATE)
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config(paddle.nn.Linear, activation=quantizer, weight=quantizer)
    model.train()  # observers measure in training mode alone
    quantized = QAT(config).quantize(model)
    for layer in quantized.sublayers():
        if isinstance(layer, paddle.nn.Dropout):
            layer.p = 0.0
    with paddle.no_grad():
        for batch in batches:
            quantized(*map(paddle.to_tensor, batch))
    return quantized
