"""Paddle Inference on a bundle's program: arrays in, logits out."""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ernie_pp.errors import ModelError
from ernie_pp.export.bundle import MANIFEST, Bundle
from ernie_pp.export.formats import problem_of_bf16
from ernie_pp.export.runtime_choice import RuntimeOptions
from ernie_pp.export.sessions.gpu import count_gpus, use_gpu
from ernie_pp.machine import blocked_signals
from ernie_pp.machine.streams import silenced_errors

LOG = logging.getLogger("ernie_pp")
NUM_INPUTS = 2  # ids and token types
_AGAIN = "Copy the bundle again, whole, or export it again."
_LIBRARY = "paddle.base.libpaddle"
# Set to anything: Paddle is loaded by `import paddle`, in case its C++ module cannot stand alone any more.
PLAIN_PADDLE = "ERNIE_PP_PLAIN_PADDLE"


class PaddleSession:
    """One Paddle Inference predictor. Not for several threads at once: a shared predictor gives wrong answers."""

    def __init__(self, bundle: Bundle, options: RuntimeOptions) -> None:
        """Loads the program."""
        self._bundle = bundle
        with _told_as_damaged(bundle):
            self._predictor = _build(bundle, options)
        self._names = list(bundle.manifest["inputs"])
        if len(self._names) != NUM_INPUTS or sorted(map(str, self._names)) != sorted(self._predictor.get_input_names()):
            what = f"names the inputs {self._names}, the program has {self._predictor.get_input_names()}"
            raise ModelError(str(bundle.folder / MANIFEST), what, _AGAIN)

    def run(self, input_ids: np.ndarray, token_type_ids: np.ndarray) -> np.ndarray:
        """Logits, float32, of int64 [rows, length] ids and token types."""
        with _told_as_damaged(self._bundle):
            for name, array in zip(self._names, (input_ids, token_type_ids), strict=True):
                handle = self._predictor.get_input_handle(name)
                _copy_in(handle, np.ascontiguousarray(array, dtype=np.int64))
            self._predictor.run()
            return self._predictor.get_output_handle(self._predictor.get_output_names()[0]).copy_to_cpu()


def open_session(bundle: Bundle, options: RuntimeOptions) -> PaddleSession:
    """Load a bundle of format inference or inference-legacy."""
    return PaddleSession(bundle, options)


@contextlib.contextmanager
def _told_as_damaged(bundle: Bundle) -> Iterator[None]:
    """ModelError for what Paddle says of a program and its parameters, without the pages of its own stack."""
    try:
        yield
    except (RuntimeError, ValueError, TypeError, IndexError, OSError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        # Paddle's own errors end with "(Kind) what happened", a hint and a place in its source.
        said = next((line for line in reversed(lines) if line.startswith("(")), lines[-1])
        what = f"cannot be run by Paddle Inference: {said[:300]}"
        raise ModelError(str(bundle.program), what, _AGAIN) from error


def _check_name(bundle: Bundle) -> None:
    try:
        str(bundle.folder).encode("utf-8")
    except UnicodeEncodeError as error:
        what = "has a name that is not UTF-8, which Paddle cannot open"
        raise ModelError(str(bundle.folder), what, "Rename the folder.") from error


def _build(bundle: Bundle, options: RuntimeOptions) -> Any:
    _check_name(bundle)
    with blocked_signals():
        library = _load_library()
    config_type, create = (
        (library.AnalysisConfig, library.create_predictor) if library is not None else _import_inference()
    )
    config = config_type(str(bundle.program), str(bundle.parameters))
    config.disable_glog_info()
    if not _uses_gpu(config, bundle, options):
        config.disable_gpu()
    config.set_cpu_math_library_num_threads(options.threads)
    if bundle.spec.ir == "pir":
        # Memory optimisation of a PIR program fails unless both of these are on.
        config.enable_new_ir(True)
        config.enable_new_executor(True)
    if options.memory_optim:
        config.enable_memory_optim()
    if options.onednn:
        config.enable_mkldnn()
        config.set_mkldnn_cache_capacity(0)
    else:
        config.disable_mkldnn()
    _set_precision(config, bundle)
    # The passes for int8 tell of each of their kind, whatever glog is told.
    with silenced_errors() if bundle.precision == "int8" else contextlib.nullcontext():
        return create(config)


def _set_precision(config: Any, bundle: Bundle) -> None:
    if bundle.precision == "bf16":
        problem = problem_of_bf16()
        if problem is None:
            config.enable_mkldnn_bfloat16()
        else:
            LOG.warning("%s: %s: it is computed in fp32", bundle.folder, problem)
    elif bundle.precision == "int8":
        config.enable_mkldnn_int8()


def _uses_gpu(config: Any, bundle: Bundle, options: RuntimeOptions) -> bool:
    if bundle.precision != "fp16":
        return False
    if count_gpus() == 0:
        LOG.warning("%s: fp16 is for GPUs, and Paddle sees none: it is computed in fp32", bundle.folder)
        return False
    use_gpu(config, bundle, half=type(config).Precision.Half, tensorrt=options.tensorrt)
    return True


def _copy_in(handle: object, array: np.ndarray) -> None:
    # paddle.inference adds copy_from_cpu to the library's tensor; without it the bound method is the same call.
    copy = getattr(handle, "copy_from_cpu", None) or handle._copy_from_cpu_bind  # type: ignore[attr-defined]
    copy(array)


def _import_inference() -> tuple:
    with blocked_signals():
        from paddle.inference import Config, create_predictor

    return Config, create_predictor


def _load_library() -> ModuleType | None:
    """Paddle's C++ module alone, in a quarter of the time of `import paddle`; None: take the ordinary way.

    It is registered under the name `import paddle` looks for, so that a later import finds it loaded. The variable
    ERNIE_PP_PLAIN_PADDLE closes this way.
    """
    if "paddle" in sys.modules or os.environ.get(PLAIN_PADDLE):
        return None
    spec = importlib.util.find_spec("paddle")
    folder = Path((spec.submodule_search_locations or [""])[0]) / "base" if spec is not None else None
    path = folder / "libpaddle.so" if folder is not None else None
    if path is None or not path.is_file():
        return None
    try:
        loader = importlib.machinery.ExtensionFileLoader(_LIBRARY, str(path))
        module_spec = importlib.machinery.ModuleSpec(_LIBRARY, loader, origin=str(path))
        library = importlib.util.module_from_spec(module_spec)
        loader.exec_module(library)
        sys.modules[_LIBRARY] = library
        for name in ("init_default_kernel_signatures", "init_memory_method", "init_devices", "init_tensor_operants"):
            getattr(library, name)()
        return library if hasattr(library, "AnalysisConfig") and hasattr(library, "create_predictor") else None
    except (ImportError, AttributeError) as error:
        LOG.debug("the short way to Paddle Inference is closed (%s); importing paddle", error)
        return None
