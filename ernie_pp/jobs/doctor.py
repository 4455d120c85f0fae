"""`ernie-pp doctor`: the machine, and everything about a config's data that can be known before training."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ernie_pp.config import CpuConfig, RunConfig, check_config, load_config
from ernie_pp.errors import ConfigError, DataError, ErniePPError
from ernie_pp.jobs.start import start_paddle
from ernie_pp.machine import describe_machine
from ernie_pp.machine.describe import version_problems


@dataclass(frozen=True)
class Findings:
    """What `doctor` found: blocks of text, what stands in the way of a run, and the exit code that tells it."""

    blocks: tuple[str, ...]
    problems: tuple[str, ...]
    exit_code: int = 0

    @property
    def text(self) -> str:
        """All of it, for the screen."""
        return "\n\n".join([*self.blocks, *(f"PROBLEM: {problem}" for problem in self.problems)])


def diagnose(path: str | None, overrides: Sequence[str]) -> Findings:
    """The machine and, where a config is named, its data. Only a config that cannot be read raises."""
    config = load_config(path, overrides) if path is not None else None
    if config is not None:
        check_config(config, source=str(path))
    elif overrides:
        raise ConfigError(
            "doctor", f"{overrides[0]} changes a config, and none is given", "Name it with --config FILE."
        )
    machine = _machine(config)
    return machine if config is None or version_problems() else _with_data(machine, config)


def _with_data(machine: Findings, config: RunConfig) -> Findings:
    # Loads Paddle, so it must come after the CPU switches.
    from ernie_pp.jobs.data_check import describe_data

    try:
        text, faults = describe_data(config)
    except ErniePPError as error:
        # What was found so far is shown all the same: the machine may be the cause.
        return replace(machine, problems=(*machine.problems, str(error)), exit_code=error.exit_code)
    if config.data.on_error == "skip":
        left_out = ["\n  ".join(["Bad rows left out (data.on_error: skip)", *faults])] if faults else []
        return replace(machine, blocks=(*machine.blocks, text, *left_out))
    code = DataError.exit_code if faults else machine.exit_code
    return Findings((*machine.blocks, text), (*machine.problems, *faults), code)


def _machine(config: RunConfig | None) -> Findings:
    cpu = config.cpu if config is not None else CpuConfig()
    lines = ["Machine", *(f"  {name:18} {value}" for name, value in describe_machine().items())]
    problems = version_problems()
    if problems:
        return Findings(("\n".join(lines),), tuple(problems), 1)
    setup = start_paddle(cpu)
    lines.append(f"  {'cpu settings':18} {setup}")
    lines.append(f"  {'matrix products':18} {_matrix_rate():.0f} GFLOP/s")
    lines.append(f"  {'devices':18} {_devices()}")
    return Findings(("\n".join(lines),), setup.problems, 1 if setup.problems else 0)


def _matrix_rate() -> float:
    """GFLOP/s of float32 matrix products on the CPU with these settings, the best of a few."""
    import paddle

    size, seconds = 1024, []
    matrix = paddle.ones([size, size], dtype="float32").cpu()
    for _ in range(5):
        start = time.perf_counter()
        float(paddle.matmul(matrix, matrix)[0, 0])
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / min(seconds) / 1e9


def _devices() -> str:
    import paddle

    if not paddle.device.is_compiled_with_cuda():
        return "cpu (this is Paddle's CPU wheel)"
    count = paddle.device.cuda.device_count()
    names = [paddle.device.cuda.get_device_name(index) for index in range(count)]
    return "cpu, " + ", ".join(names) if names else "cpu (Paddle's GPU wheel sees no GPU)"
