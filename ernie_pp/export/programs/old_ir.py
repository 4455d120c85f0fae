"""Paddle's representation before PIR (ProgramDesc): model.pdmodel, for older servers, Paddle Lite and int8 on CPUs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import paddle
import paddle.nn.functional as F
from paddle.base.framework import Variable
from paddle.base.layer_helper import LayerHelper
from paddle.nn.layer import transformer

from ernie_pp.export.programs.inference_model import input_specs
from ernie_pp.machine import held_signals

# paddle.tensor as a layer's forward sees it; Paddle 3.3 gives another object under `paddle.tensor`.
_TENSOR = transformer.tensor


def write_old_ir(model: paddle.nn.Layer, program: Path) -> dict:
    """Write `program` (.pdmodel) and its parameters beside it."""
    model.eval()
    with held_signals(), paddle.pir_utils.OldIrGuard(), _old_operators(model):
        paddle.jit.save(model, str(program.with_suffix("")), input_spec=input_specs())
    # Names of the parameters for training on; nothing that runs the program reads it.
    program.with_suffix(".pdiparams.info").unlink(missing_ok=True)
    return {}


@contextlib.contextmanager
def _old_operators(model: paddle.nn.Layer) -> Iterator[None]:
    """Definitions for what ERNIE uses and Paddle 3.3 defines for PIR and eager tensors alone."""
    originals = [(place, name, getattr(place, name)) for place, name in _PLACES]
    # A block has taken its activation out of F when it was built.
    blocks = [layer for layer in model.sublayers() if getattr(layer, "activation", None) is F.gelu]
    try:
        for place, name, original in originals:
            setattr(place, name, _DEFINE[name](name, original))
        for block in blocks:
            block.activation = F.gelu
        yield
    finally:
        for place, name, original in originals:
            setattr(place, name, original)
        for block in blocks:
            block.activation = F.gelu


def _define_matmul(operator: str, original: Callable) -> Callable:
    def matmul(x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None) -> Any:
        if not isinstance(x, Variable):
            return original(x, y, transpose_x, transpose_y, name)
        return _append(f"{operator}_v2", {"X": x, "Y": y}, {"trans_x": transpose_x, "trans_y": transpose_y})

    return matmul


def _define_unary(operator: str, original: Callable) -> Callable:
    def unary(x: Any, name: str | None = None) -> Any:
        return _append(operator, {"X": x}, {}) if isinstance(x, Variable) else original(x, name)

    return unary


def _define_gelu(operator: str, original: Callable) -> Callable:
    def gelu(x: Any, approximate: bool = False, name: str | None = None) -> Any:
        if not isinstance(x, Variable):
            return original(x, approximate, name)
        return _append(operator, {"X": x}, {"approximate": bool(approximate)})

    return gelu


_DEFINE = {"matmul": _define_matmul, "gelu": _define_gelu, **dict.fromkeys(("tanh", "cos", "sin"), _define_unary)}
# Each name where a layer's forward finds it.
_PLACES = (
    (paddle, "matmul"),
    (_TENSOR, "matmul"),
    (paddle, "tanh"),
    (_TENSOR, "tanh"),
    (F, "tanh"),
    (paddle, "cos"),
    (paddle, "sin"),
    (F, "gelu"),
)


def _append(operator: str, inputs: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """The output of an operator put at the end of the program that is being traced."""
    helper = LayerHelper(operator)
    output = helper.create_variable_for_type_inference(inputs["X"].dtype)
    helper.append_op(type=operator, inputs=inputs, outputs={"Out": output}, attrs=attributes)
    return output
