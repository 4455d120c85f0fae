"""`ernie-pp doctor`: the machine, and everything about a config's data that can be known before training."""

from __future__ import annotations

from collections.abc import Sequence

from ernie_pp.config import RunConfig, check_config, load_config
from ernie_pp.errors import ConfigError
from ernie_pp.machine import describe_machine, set_up_cpu
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
    math, threads = (config.cpu.math, config.cpu.threads) if config is not None else ("auto", None)
    setup = set_up_cpu(math=math, keep_heap=config.cpu.keep_heap if config is not None else True, threads=threads)
    lines = ["Machine", *(f"  {name:18} {value}" for name, value in describe_machine().items())]
    lines.append(f"  {'cpu settings':18} {setup}")
    problems = [*setup.problems, *version_problems()]
    if not version_problems():
        lines.append(f"  {'devices':18} {_devices()}")
    return "\n".join(lines), problems


def _devices() -> str:
    # Loads Paddle, so it comes after the CPU switches.
    import paddle

    if not paddle.device.is_compiled_with_cuda():
        return "cpu (this is Paddle's CPU wheel)"
    count = paddle.device.cuda.device_count()
    names = [paddle.device.cuda.get_device_name(index) for index in range(count)]
    return "cpu, " + ", ".join(names) if names else "cpu (Paddle's GPU wheel sees no GPU)"
