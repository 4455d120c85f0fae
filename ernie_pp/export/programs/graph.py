"""ONNX by paddle2onnx, in int8 by ONNX Runtime's dynamic quantisation."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path

from ernie_pp.errors import RunError

OPSET = 17
_TIMEOUT_S = 1800
# It folds constants, and would install what it misses with pip.
_ENVIRONMENT = {"POLYGRAPHY_AUTOINSTALL_DEPS": "0"}
_INSTALL = 'Install them: pip install "ernie_pp[onnx]"'


def write_graph(program: Path, graph: Path, *, is_int8: bool) -> dict:
    """Write `graph` (.onnx) of a PIR program and the parameters beside it; RunError with what a converter says."""
    plain = program.with_suffix(".onnx")
    code = (
        "import sys, paddle2onnx; p, w, o, v = sys.argv[1:]; "
        "paddle2onnx.export(p, w, o, opset_version=int(v), verbose=False)"
    )
    _run(code, [str(program), str(program.with_suffix(".pdiparams")), str(plain), str(OPSET)], made=plain)
    if is_int8:
        code = (
            "import sys; from onnxruntime.quantization import QuantType, quantize_dynamic; "
            "quantize_dynamic(sys.argv[1], sys.argv[2], weight_type=QuantType.QInt8)"
        )
        _run(code, [str(plain), str(graph)], made=graph)
    else:
        shutil.move(plain, graph)
    versions = {name: importlib.metadata.version(name) for name in ("paddle2onnx", "onnxruntime")}
    return {"opset": OPSET, "converters": versions}


def _run(code: str, words: list[str], *, made: Path) -> None:
    """A converter in a process of its own: a model that it cannot read may end it."""
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(
        command, env={**os.environ, **_ENVIRONMENT}, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode or not made.is_file():
        lines = (done.stderr or done.stdout).strip().splitlines()[-5:]
        missing = any("ModuleNotFoundError" in line for line in lines)
        what = "cannot be converted to ONNX (exit code {}):\n{}".format(done.returncode, "\n".join(lines))
        raise RunError(str(made), what, _INSTALL if missing else "Take another --format.")
