"""A model written as the program of a bundle's format."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from ernie_pp.export.batches import Batch
from ernie_pp.export.formats import FORMATS, Target
from ernie_pp.export.programs.calibration import calibrate
from ernie_pp.export.programs.graph import write_graph
from ernie_pp.export.programs.inference_model import INPUTS, InferenceModel
from ernie_pp.export.programs.naive_buffer import write_naive_buffer
from ernie_pp.export.programs.old_ir import write_old_ir
from ernie_pp.export.programs.pir import write_pir

__all__ = ["INPUTS", "InferenceModel", "write_program"]


def write_program(model: InferenceModel, folder: Path, target: Target, *, calibration: Sequence[Batch]) -> dict:
    """Write the files of `target` into `folder`; returns what the manifest says of how.

    Saving changes the model: give one of your own. `calibration` are rows as the users' are, read where activations
    are quantised. RunError where a converter refuses the model, with what it says.
    """
    spec = FORMATS[target.format]
    program = folder / spec.program
    if target.format == "inference":
        return write_pir(model, program)
    if target.format == "inference-legacy":
        return write_old_ir(calibrate(model, calibration) if target.precision == "int8" else model, program)
    with tempfile.TemporaryDirectory() as name:
        if target.format == "onnx":
            source = Path(name) / FORMATS["inference"].program
            return write_pir(model, source) | write_graph(source, program, is_int8=target.precision == "int8")
        source = Path(name) / FORMATS["inference-legacy"].program
        return write_old_ir(model, source) | write_naive_buffer(source, program)
