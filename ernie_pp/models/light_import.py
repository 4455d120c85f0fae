"""PaddleNLP's ERNIE classes without the five seconds that `import paddlenlp` takes.

The package's `__init__` files import every model it has. ERNIE needs a handful of its modules, so empty packages
stand in for the heavy ones while those few are imported, and are taken away again: a later `import paddlenlp` runs as
usual and finds the same classes.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import logging
import os
import shutil
import sys
import tempfile
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LOG = logging.getLogger("ernie_pp")
_HOME, _HOME_FOLDERS = "PPNLP_HOME", ("models", "datasets", "packages")
_STAND_INS = ("paddlenlp", "paddlenlp.transformers", "paddlenlp.data", "paddlenlp.layers")
_TOKENIZER_NAMES = (
    "PretrainedTokenizer",
    "BPETokenizer",
    "tokenize_chinese_chars",
    "is_chinese_char",
    "AddedToken",
    "normalize_chars",
    "tokenize_special_chars",
    "convert_to_unicode",
)


@dataclass(frozen=True)
class ErnieCode:
    """The modules of PaddleNLP that define ERNIE."""

    modeling: Any
    configuration: Any
    tokenizer: Any
    model_utils: Any


def import_ernie() -> ErnieCode:
    """PaddleNLP's ERNIE modules; the light way where it works, else by the ordinary import."""
    with _usable_home():
        if "paddlenlp" not in sys.modules:
            before = set(sys.modules)
            try:
                _import_lightly()
            except (ImportError, AttributeError, TypeError):
                # Another PaddleNLP than the one this was written for: drop what is half imported, pay the seconds.
                for name in set(sys.modules) - before:
                    if name.split(".")[0] == "paddlenlp":
                        del sys.modules[name]
        parts = ("ernie.modeling", "ernie.configuration", "ernie.tokenizer", "model_utils")
        return ErnieCode(*(_module(f"paddlenlp.transformers.{part}") for part in parts))


@contextlib.contextmanager
def _usable_home() -> Iterator[None]:
    """PaddleNLP makes its folders as it is imported: a temporary place for them where its own cannot be written."""
    if "paddlenlp.utils.env" in sys.modules:
        yield
        return
    given = os.environ.get(_HOME)
    home = given if given is not None else os.path.join(os.path.expanduser("~"), ".paddlenlp")
    try:
        for name in _HOME_FOLDERS:
            os.makedirs(os.path.join(home, name), exist_ok=True)
    except OSError as error:
        LOG.warning("%s: cannot be written (%s); set %s to keep what PaddleNLP downloads", home, error.strerror, _HOME)
    else:
        yield
        return
    temporary = tempfile.mkdtemp(prefix="paddlenlp-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    os.environ[_HOME] = temporary
    try:
        yield
    finally:
        os.environ.pop(_HOME)
        if given is not None:
            os.environ[_HOME] = given


def _module(name: str) -> Any:
    return sys.modules[name] if name in sys.modules else importlib.import_module(name)


def _import_lightly() -> None:
    spec = importlib.util.find_spec("paddlenlp")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("paddlenlp is not installed")
    root = spec.submodule_search_locations[0]
    stand_ins = {name: _stand_in(name, os.path.join(root, *name.split(".")[1:])) for name in _STAND_INS}
    try:
        stand_ins["paddlenlp"].__dict__["__version__"] = importlib.metadata.version("paddlenlp")
        _fill(stand_ins)
        importlib.import_module("paddlenlp.transformers.ernie.modeling")
        importlib.import_module("paddlenlp.transformers.ernie.tokenizer")
    finally:
        for name in _STAND_INS:
            sys.modules.pop(name, None)


def _stand_in(name: str, path: str) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__path__ = [path]
    module.__package__ = name
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    module.__spec__.submodule_search_locations = [path]
    sys.modules[name] = module
    return module


def _fill(stand_ins: dict[str, types.ModuleType]) -> None:
    """Give the stand-ins the names that ERNIE's modules take from the packages, in their order of need."""
    stand_ins["paddlenlp.layers"].__dict__["Linear"] = importlib.import_module("paddlenlp.layers.linear").Linear
    transformers = stand_ins["paddlenlp.transformers"].__dict__
    transformers["PretrainedConfig"] = importlib.import_module(
        "paddlenlp.transformers.configuration_utils"
    ).PretrainedConfig
    tokenizer_utils = importlib.import_module("paddlenlp.transformers.tokenizer_utils")
    transformers.update({name: getattr(tokenizer_utils, name) for name in _TOKENIZER_NAMES})
    model_utils = importlib.import_module("paddlenlp.transformers.model_utils")
    transformers["PretrainedModel"] = model_utils.PretrainedModel
    transformers["register_base_model"] = model_utils.register_base_model
    bert = importlib.import_module("paddlenlp.transformers.bert.tokenizer")
    transformers.update({name: getattr(bert, name) for name in bert.__all__})
