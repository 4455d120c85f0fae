"""The machine a run stands on: CPU switches made before Paddle is loaded, and what there is."""

from ernie_pp.machine.cpu import CpuSetup, count_cores, set_up_cpu
from ernie_pp.machine.describe import describe_machine
from ernie_pp.machine.signals import held_signals, take_back_signals

__all__ = ["CpuSetup", "count_cores", "describe_machine", "held_signals", "set_up_cpu", "take_back_signals"]
