"""`parallel: auto` replaced by a grid, in a process of its own: the one that starts a run's ranks stays without Paddle.

words: the config's file, the number of devices or 0    stdout: a line of JSON, the grid or the error
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import tempfile
from pathlib import Path

from ernie_pp import errors
from ernie_pp.config import ParallelConfig, RunConfig, dump_config, load_config
from ernie_pp.errors import ConfigError, ErniePPError, RunError
from ernie_pp.jobs.answers import follow_starter, helper_command, helper_environment, own_stdout
from ernie_pp.jobs.start import start_paddle

LOG = logging.getLogger("ernie_pp")


def resolve_parallel(config: RunConfig, *, num_devices: int | None = None) -> RunConfig:
    """The settings with the fastest grid in the place of `parallel: auto`; any other settings come back as they are.

    The devices are this machine's, or `num_devices` of them where that many processes are there already. The same
    machine and settings give the same grid; with measured costs, once they are in their file. ConfigError where
    nothing fits.
    """
    if not config.parallel.auto:
        return config
    if num_devices is not None and config.parallel.costs == "measured":
        what = "would be measured by every process for itself, and each might plan another grid"
        raise ConfigError("parallel.costs", what, "Plan beforehand (ernie-pp plan --measure) and give the grid.")
    answer = _ask(config, num_devices)
    if "error" in answer:
        kind, *words = answer["error"]
        raise getattr(errors, kind)(*words)
    LOG.info("parallel: auto: %s", answer["why"])
    return config.model_copy(update={"parallel": ParallelConfig.model_validate(answer["parallel"])})


def _ask(config: RunConfig, num_devices: int | None) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.yaml"
        path.write_text(dump_config(config), encoding="utf-8")
        command = helper_command("ernie_pp.jobs.auto_grid", str(path), str(num_devices or 0))
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=helper_environment(), check=False
        )
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-5:])
        what = f"could not be planned: a process ended with code {done.returncode}\n{last}"
        raise RunError("parallel: auto", what, "Give parallel.stages and parallel.replicas instead.")
    return json.loads(done.stdout)


def main(path: str, num_devices: int) -> None:
    """Write the answer for one config."""
    follow_starter()
    answers = own_stdout()
    try:
        answer = _answer(load_config(path), num_devices or None)
    except ErniePPError as error:
        answer = {"error": [type(error).__name__, error.where, error.what, error.do]}
    answers.write(json.dumps(answer) + "\n")


def _answer(config: RunConfig, num_devices: int | None) -> dict:
    start_paddle(config.cpu)
    # Loads Paddle, so it must come after the start.
    from ernie_pp.jobs.planning import plan_here

    grid, why = plan_here(config, num_devices=num_devices)
    return {"parallel": grid.model_dump(mode="json"), "why": why}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
