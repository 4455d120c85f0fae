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

# Rank 1 does something else where it was to make its micro-batch of a number; the run is well under way by then.
_HIT = """
@after_import("ernie_pp.data.batches")
def change(batches):
    build, left = batches.build_micro_batch, [None] * {number}
    def hit(*words, **named):
        if RANK == "1" and not left:
            {work}
        left and left.pop()
        return build(*words, **named)
    batches.build_micro_batch = hit
"""


def at_micro_batch(number: int, work: str) -> str:
    """Code for `write_injection`: rank 1 does `work`, a line in the function `hit`, at its micro-batch, from 0."""
    return _HIT.format(number=number, work=work)


def write_injection(folder: Path, code: str) -> str:
    """A folder for PYTHONPATH whose `code` every process runs first; it may use `after_import` and `RANK`."""
    first = folder / "injected"
    first.mkdir()
    (first / "sitecustomize.py").write_text(_AFTER_IMPORT + code, encoding="utf-8")
    return str(first)
