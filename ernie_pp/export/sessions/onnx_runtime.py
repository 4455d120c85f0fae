"""ONNX Runtime on a bundle's graph."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ernie_pp.errors import ModelError
from ernie_pp.export.bundle import Bundle
from ernie_pp.export.runtime_choice import RuntimeOptions

_AGAIN = "Copy the bundle again, whole, or export it again."


class OnnxSession:
    """One ONNX Runtime session on the CPU; unlike Paddle Inference's, its `run` lets other threads of Python go on."""

    def __init__(self, bundle: Bundle, session: Any) -> None:
        """The bundle, and onnxruntime's InferenceSession of its graph."""
        self._bundle, self._session = bundle, session
        self._names = list(bundle.manifest["inputs"])
        found = [one.name for one in session.get_inputs()]
        if sorted(map(str, self._names)) != sorted(found):
            what = f"has the inputs {found}, the manifest names {self._names}"
            raise ModelError(str(bundle.program), what, _AGAIN)

    def run(self, input_ids: np.ndarray, token_type_ids: np.ndarray) -> np.ndarray:
        """Logits, float32, of int64 [rows, length] ids and token types."""
        arrays = (np.ascontiguousarray(one, dtype=np.int64) for one in (input_ids, token_type_ids))
        with _told(self._bundle):
            return self._session.run(None, dict(zip(self._names, arrays, strict=True)))[0]


def open_session(bundle: Bundle, options: RuntimeOptions) -> OnnxSession:
    """Load a bundle of format onnx; ModelError where onnxruntime is not installed or refuses the graph."""
    try:
        import onnxruntime
    except ImportError as error:
        what = f"is of format onnx, and onnxruntime cannot be imported ({error})"
        raise ModelError(str(bundle.folder), what, 'Install it: pip install "ernie_pp[onnx]"') from error
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = options.threads, 1
    settings.log_severity_level = 3  # errors
    with _told(bundle):
        session = onnxruntime.InferenceSession(str(bundle.program), settings, providers=["CPUExecutionProvider"])
    return OnnxSession(bundle, session)


@contextlib.contextmanager
def _told(bundle: Bundle) -> Iterator[None]:
    """ModelError for what ONNX Runtime says; its exceptions have no class in common but Exception."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith("onnxruntime"):
            raise
        what = f"cannot be run by ONNX Runtime: {str(error).splitlines()[0][:300]}"
        raise ModelError(str(bundle.program), what, _AGAIN) from error
