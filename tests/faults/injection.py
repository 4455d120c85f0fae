"""Faults set from outside: a sitecustomize.py that Python itself loads in every process of a run."""

from __future__ import annotations

from pathlib import Path

# `after_import(name)(change)` hands a module to `change` once it is loaded, however late that is: Paddle must not be
# loaded before the product has set up the machine for it.
_AFTER_IMPORT = """
import importlib.abc, importlib.util, json, os, sys

RANK = os.environ.get("ERNIE_PP_RANK")

class _AfterImport(importlib.abc.MetaPathFinder):
    def __init__(self, name, change):
        self.name, self.change = name, change
    def find_spec(self, name, path, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module
        def load_and_change(module):
            load(module)
            self.change(module)
        spec.loader.exec_module = load_and_change
        return spec

def after_import(name):
    return lambda change: sys.meta_path.insert(0, _AfterImport(name, change))
"""


def write_injection(folder: Path, code: str) -> str:
    """A folder for PYTHONPATH whose `code` every process runs first; it may use `after_import` and `RANK`."""
    first = folder / "injected"
    first.mkdir()
    (first / "sitecustomize.py").write_text(_AFTER_IMPORT + code, encoding="utf-8")
    return str(first)
