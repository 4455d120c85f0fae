"""A bundle's program in the runtime its format is for: arrays in, logits out."""

from __future__ import annotations

import importlib
from typing import Protocol

import numpy as np

from ernie_pp.export.bundle import Bundle
from ernie_pp.export.runtime_choice import RuntimeOptions

# Each is loaded where a bundle of its format is opened: the others' libraries need not be there.
_MODULES = {
    "inference": "paddle_inference",
    "inference-legacy": "paddle_inference",
    "onnx": "onnx_runtime",
    "lite": "paddle_lite",
}


class Session(Protocol):
    """One program, loaded. Not for several threads at once."""

    def run(self, input_ids: np.ndarray, token_type_ids: np.ndarray) -> np.ndarray:
        """Logits, float32, of int64 [rows, length] ids and token types."""
        ...


def open_session(bundle: Bundle, options: RuntimeOptions) -> Session:
    """Load a bundle's program; ModelError where the runtime is not there, or cannot run it."""
    module = importlib.import_module(f"ernie_pp.export.sessions.{_MODULES[bundle.manifest['format']]}")
    return module.open_session(bundle, options)
