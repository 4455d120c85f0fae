"""The machine a run stands on: CPU switches made before Paddle is loaded, and what there is."""

from ernie_pp.machine.cpu import CpuSetup, count_cores, set_threads, set_up_cpu, switch_math, threads_per_process
from ernie_pp.machine.describe import describe_machine, memory_bytes, version_problems
from ernie_pp.machine.signals import blocked_signals, held_signals, take_back_signals

__all__ = [
    "CpuSetup",
    "blocked_signals",
    "count_cores",
    "describe_machine",
    "held_signals",
    "memory_bytes",
    "set_threads",
    "set_up_cpu",
    "switch_math",
    "take_back_signals",
    "threads_per_process",
    "version_problems",
]
