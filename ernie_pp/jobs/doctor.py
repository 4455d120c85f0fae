"""`ernie-pp doctor`: the machine, and everything about a config's data that can be known before training."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ernie_pp.config import CpuConfig, RunConfig, check_config, load_config
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.start import start_paddle
from ernie_pp.machine import describe_machine
from ernie_pp.machine.describe import version_problems


def examine(path: str | None, overrides: Sequence[str]) -> tuple[str, bool]:
    """(the report, whether nothing is wrong). Warnings about data do not make it unsound, faults raise."""
    config = load_config(path, overrides) if path is not None else None
    if config is not None:
        check_config(config, source=str(path))
    elif overrides:
        raise ConfigError(
            "doctor", f"{overrides[0]} changes a config, and none is given", "Name it with --config FILE."
        )
    text, problems = _machine(config)
    parts = [text]
    if config is not None and not version_problems():
        # Loads Paddle, so it must come after the CPU switches.
        from ernie_pp.jobs.data_check import describe_data

        parts.append(describe_data(config))
    return "\n\n".join([*parts, *(f"PROBLEM: {problem}" for problem in problems)]), not problems


def _machine(config: RunConfig | None) -> tuple[str, list[str]]:
    cpu = config.cpu if config is not None else CpuConfig()
    lines = ["Machine", *(f"  {name:18} {value}" for name, value in describe_machine().items())]
    problems = version_problems()
    if problems:
        return "\n".join(lines), problems
    setup = start_paddle(cpu)
    lines.append(f"  {'cpu settings':18} {setup}")
    lines.append(f"  {'matrix products':18} {_matrix_rate():.0f} GFLOP/s")
    lines.append(f"  {'devices':18} {_devices()}")
    return "\n".join(lines), list(setup.problems)


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
