"""What a bundle can be: the runtimes it is for, the files each of them reads, and in which precisions."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass

from ernie_pp.choices import BundleFormat, Precision
from ernie_pp.errors import ConfigError, RunError
from ernie_pp.machine.cpu import read_cpu_info


@dataclass(frozen=True)
class FormatSpec:
    """Files of a format (no `parameters`: they stand in the program), its representation, and its precisions."""

    program: str
    parameters: str | None
    ir: str
    precisions: tuple[Precision, ...]
    runtime: str

    @property
    def files(self) -> tuple[str, ...]:
        """Names of all files without which it cannot be run."""
        return (self.program,) if self.parameters is None else (self.program, self.parameters)


@dataclass(frozen=True)
class Target:
    """What to export: a format and how numbers are computed in it."""

    format: BundleFormat = "inference"
    precision: Precision = "fp32"


FORMATS: Mapping[BundleFormat, FormatSpec] = {
    "inference": FormatSpec("model.json", "model.pdiparams", "pir", ("fp32", "bf16", "fp16"), "Paddle Inference"),
    # oneDNN's int8 kernels are chosen by passes over the old representation only.
    "inference-legacy": FormatSpec(
        "model.pdmodel", "model.pdiparams", "program", ("fp32", "bf16", "fp16", "int8"), "Paddle Inference"
    ),
    "onnx": FormatSpec("model.onnx", None, "onnx", ("fp32", "int8"), "ONNX Runtime"),
    "lite": FormatSpec("model.nb", None, "naive_buffer", ("fp32",), "Paddle Lite"),
}


def check_format(format: BundleFormat, precision: Precision) -> FormatSpec:
    """What a format is; ConfigError where it has no such precision, RunError where it cannot be checked here."""
    spec = FORMATS[format]
    if precision not in spec.precisions:
        others = [name for name, one in FORMATS.items() if precision in one.precisions]
        what = f"{precision} is not one of {format}: {', '.join(spec.precisions)}"
        raise ConfigError("--precision", what, f"{precision} is there with --format {' or '.join(others)}.")
    if precision == "bf16" and (problem := problem_of_bf16()) is not None:
        raise RunError("--precision bf16", f"cannot be checked: {problem}", "Export on a machine that has it.")
    return spec


def problem_of_bf16() -> str | None:
    """Why this CPU cannot compute in bf16; None where it can."""
    _, model, flags = read_cpu_info()
    if "avx512bw" in flags:  # oneDNN emulates on it what avx512_bf16 does at once
        return None
    return f"this CPU ({model}) has no AVX-512, which bf16 needs"


def is_known(format: object, precision: object) -> bool:
    """Whether a manifest's words name a format and one of its precisions."""
    return (
        format in typing.get_args(BundleFormat) and precision in FORMATS[typing.cast(BundleFormat, format)].precisions
    )
