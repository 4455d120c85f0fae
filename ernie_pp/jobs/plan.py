"""`ernie-pp plan`: the fastest grids for a config on given devices, and the settings that give the best."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ernie_pp.byte_sizes import parse_bytes, parse_rate
from ernie_pp.config import ParallelConfig, RunConfig, check_config, load_config
from ernie_pp.config.yaml_reader import read_yaml
from ernie_pp.durable import check_writable, write_text
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.start import start_paddle

MOST_DEVICES = 4096


@dataclass(frozen=True)
class PlanOptions:
    """What the command line says; None: as the config says, else what is here."""

    config: str
    overrides: Sequence[str] = ()
    devices: int | None = None
    memory: str | None = None
    link: str | None = None
    device_kind: str | None = None
    length: int | None = None
    top: int = 5
    measure: bool = False
    output: str | None = None
    report: str | None = None


def run_plan(options: PlanOptions) -> str:
    """The best plans as text; writes the settings of the best one, and a page that draws it, where they are wanted."""
    config = _load(options)
    if options.devices is not None and options.devices > MOST_DEVICES:
        raise ConfigError("--devices", f"is {options.devices}, expected {MOST_DEVICES} at most", "Give a real number.")
    _check_outputs(options)
    link_bytes_per_s = _parsed("--link", options.link, parse_rate)
    start_paddle(config.cpu)
    # Loads Paddle, so it must come after the start.
    from ernie_pp.jobs.plan_answer import Wanted, find_plans

    wanted = Wanted(options.devices, options.device_kind, link_bytes_per_s)
    answer = find_plans(config, wanted, length=options.length)
    text = answer.text(top=options.top)
    if options.output is not None:
        write_text(Path(options.output), answer.fragment())
        text += f"\nwritten:   {options.output} (a config takes it with `extends: {options.output}`)"
    if options.report is not None:
        answer.write_report(Path(options.report))
        text += f"\nreport:    {options.report}"
    return text


def _check_outputs(options: PlanOptions) -> None:
    """ConfigError for an output that would replace what is read, or another output."""
    read = {options.config: "--config"}
    base = read_yaml(Path(options.config)).values.get("extends")
    if isinstance(base, str):
        read[str(Path(options.config).parent / base)] = "extends"
    taken = {os.path.realpath(path): name for path, name in read.items()}
    for name, path in (("--output", options.output), ("--report", options.report)):
        if path is None:
            continue
        if os.path.realpath(path) in taken:
            what = f"is {path}, the file of {taken[os.path.realpath(path)]}, which it would replace"
            raise ConfigError(name, what, "Name another file.")
        taken[os.path.realpath(path)] = name
        check_writable(Path(path))


def _load(options: PlanOptions) -> RunConfig:
    """The config, asking for a plan whatever grid it gives."""
    config = load_config(options.config, options.overrides)
    _parsed("--memory", options.memory, parse_bytes)
    grid = ParallelConfig(
        auto=True,
        memory=options.memory or config.parallel.memory,
        costs="measured" if options.measure else config.parallel.costs,
    )
    config = config.model_copy(update={"parallel": grid})
    check_config(config, source=options.config, needs_data=False)
    return config


def _parsed(word: str, text: str | None, parse: Callable[[str], float]) -> float | None:
    if text is None:
        return None
    try:
        return parse(text)
    except ValueError as error:
        raise ConfigError(word, str(error), "Write for example --memory 16GiB --link 25GB/s") from error
