"""How a bundle is run on one machine, as `ernie-pp bench --write` has measured it: runtime.json in the bundle."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from ernie_pp.bounded import read_json
from ernie_pp.choices import MAX_THREADS
from ernie_pp.durable import write_text
from ernie_pp.errors import ModelError
from ernie_pp.export.bundle import Bundle
from ernie_pp.machine import count_cores
from ernie_pp.machine.cpu import read_cpu_info

CHOICE = "runtime.json"
_MAX_BYTES = 1 << 16
_ADVICE = "Run `ernie-pp bench --bundle DIR --write` again, or remove the file."


@dataclass(frozen=True)
class RuntimeOptions:
    """Settings of a runtime that change speed and memory, and no answer beyond rounding.

    All but `threads` are Paddle Inference's; the other runtimes have no such setting. `tensorrt` is for fp16 on a GPU,
    in format inference-legacy.
    """

    threads: int = 1
    onednn: bool = True
    memory_optim: bool = False
    tensorrt: bool = False


def write_choice(bundle: Bundle, options: RuntimeOptions) -> Path:
    """Keep what is best on this machine."""
    path = bundle.folder / CHOICE
    write_text(path, json.dumps({"machine": _machine(), **asdict(options)}, indent=1) + "\n")
    return path


def read_choice(bundle: Bundle, *, threads: int | None = None) -> RuntimeOptions:
    """What was measured for this machine, or else the defaults with one thread a core; `threads` goes before both.

    ModelError where the file is not one that `write_choice` made.
    """
    options = _stored(bundle) or RuntimeOptions(threads=count_cores())
    return options if threads is None else replace(options, threads=threads)


def _stored(bundle: Bundle) -> RuntimeOptions | None:
    path = bundle.folder / CHOICE
    if not path.is_file():
        return None
    values = read_json(path, max_bytes=_MAX_BYTES, error=ModelError, do=_ADVICE)
    kinds = {"machine": str, **{one.name: type(one.default) for one in fields(RuntimeOptions)}}
    if not isinstance(values, dict) or {name: type(value) for name, value in values.items()} != kinds:
        raise ModelError(str(path), f"does not hold {', '.join(kinds)}", _ADVICE)
    if not 1 <= values["threads"] <= MAX_THREADS:
        raise ModelError(str(path), f"threads is {values['threads']}, expected 1 to {MAX_THREADS}", _ADVICE)
    # What was best elsewhere was not measured here.
    machine = values.pop("machine")
    return RuntimeOptions(**values) if machine == _machine() else None


def _machine() -> str:
    _, model, flags = read_cpu_info()
    wide = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "plain"
    return f"{model}, {count_cores()} cores, {wide}"
