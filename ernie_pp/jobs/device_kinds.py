"""What is known of devices without measuring: rough figures, good for choosing a grid, not for promises."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ernie_pp.partition.costs import DeviceCosts, Link
from ernie_pp.partition.formula import Speed

MIB, GIB = 1 << 20, 1 << 30
# Weights, gradients and AdamW's two moments.
STATE_FACTOR = 4.0
# Of a data sheet's figures, what a step of an encoder gets.
_SHARE_OF_SHEET = 0.45
# Of a step's work on a CPU, what one thread does alone: two threads of one process were 1.25 times as fast as one.
_SERIAL_SHARE = 0.6


@dataclass(frozen=True)
class DeviceKind:
    """Effective speeds of one device, its memory where the kind fixes it, and the links of its machine."""

    name: str
    flops_per_s: float
    half_flops_per_s: float
    memory_bytes_per_s: float
    memory_bytes: int | None
    link: Link
    base_bytes: int
    step_s: float
    layer_s: float  # starting the operations of a pass through a layer
    sum_bytes_per_s: float | None = None  # of gradients, with the copies around it; None: as fast as the link

    def with_threads(self, threads: int) -> DeviceKind:
        """A process of so many threads in the place of one."""
        gain = 1 / (_SERIAL_SHARE + (1 - _SERIAL_SHARE) / threads)
        return replace(
            self,
            flops_per_s=self.flops_per_s * gain,
            half_flops_per_s=self.half_flops_per_s * gain,
            memory_bytes_per_s=self.memory_bytes_per_s * gain,
        )

    def speed(self, precision: Literal["fp32", "bf16", "fp16"]) -> Speed:
        """Speeds with a number type of the matrix products."""
        flops = self.flops_per_s if precision == "fp32" else self.half_flops_per_s
        return Speed(flops_per_s=flops, memory_bytes_per_s=self.memory_bytes_per_s, layer_s=self.layer_s)

    def costs(self) -> DeviceCosts:
        """What does not belong to one layer."""
        passes = 5  # over the weights' bytes: norm, clipping and AdamW, as measured on a CPU
        return DeviceCosts(
            base_bytes=self.base_bytes,
            state_factor=STATE_FACTOR,
            update_s_per_byte=passes / self.memory_bytes_per_s,
            step_s=self.step_s,
            reduce_bytes_per_s=self.sum_bytes_per_s or self.link.bytes_per_s,
        )


def _gpu(name: str, *, tflops: float, half_tflops: float, memory_gbs: float, gib: int, link_gbs: float) -> DeviceKind:
    return DeviceKind(
        name,
        _SHARE_OF_SHEET * tflops * 1e12,
        _SHARE_OF_SHEET * half_tflops * 1e12,
        0.7 * memory_gbs * 1e9,
        gib * GIB,
        Link(0.7 * link_gbs * 1e9, 20e-6),
        700 * MIB,
        2e-3,
        3e-4,
    )


# A core with the math library's fast path, and gloo's sockets between its processes; measured on a server of 2023.
CPU = DeviceKind("cpu", 115e9, 115e9, 8e9, None, Link(1.2e9, 8e-4), 450 * MIB, 2e-3, 5e-4, 0.4e9)
GPUS = {
    kind.name: kind
    for kind in (
        _gpu("t4", tflops=8.1, half_tflops=65, memory_gbs=320, gib=16, link_gbs=12),
        _gpu("v100", tflops=15.7, half_tflops=125, memory_gbs=900, gib=32, link_gbs=25),
        _gpu("a10", tflops=31, half_tflops=125, memory_gbs=600, gib=24, link_gbs=25),
        _gpu("4090", tflops=82, half_tflops=165, memory_gbs=1008, gib=24, link_gbs=25),
        _gpu("a100", tflops=19.5, half_tflops=312, memory_gbs=1555, gib=40, link_gbs=250),
        _gpu("a800", tflops=19.5, half_tflops=312, memory_gbs=2039, gib=80, link_gbs=170),
        _gpu("h100", tflops=67, half_tflops=990, memory_gbs=3350, gib=80, link_gbs=400),
        _gpu("h200", tflops=67, half_tflops=990, memory_gbs=4800, gib=141, link_gbs=400),
    )
}
KINDS = ("cpu", *GPUS)
# For a GPU with another name.
USUAL_GPU = "a100"


def gpu_named(words: str) -> DeviceKind | None:
    """The kind in a name such as "NVIDIA A100-SXM4-80GB"; None for one that is not known."""
    found = [name for name in GPUS if name in words.lower()]
    # A100 is not A10.
    return GPUS[max(found, key=len)] if found else None


def kind_named(name: str) -> DeviceKind:
    """One of KINDS."""
    return CPU if name == "cpu" else GPUS[name]
