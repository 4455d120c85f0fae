"""Paddle's present representation (PIR): model.json beside model.pdiparams."""

from __future__ import annotations

from pathlib import Path

import paddle

from ernie_pp.export.programs.inference_model import input_specs
from ernie_pp.machine import held_signals


def write_pir(model: paddle.nn.Layer, program: Path) -> dict:
    """Write `program` (.json) and its parameters beside it."""
    model.eval()
    # It reads Python code anew, and tells an exception in there, a stop too, by pages of that code.
    with held_signals():
        paddle.jit.save(model, str(program.with_suffix("")), input_spec=input_specs())
    return {}
