"""Measuring a run's best model on labelled rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ernie_pp.config import load_config
from ernie_pp.data.readers import ReadSettings, is_dataset
from ernie_pp.durable import check_writable
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.figures import say_count, write_figures
from ernie_pp.jobs.start import start_paddle
from ernie_pp.training.run_folder import RunFolder

if TYPE_CHECKING:
    from ernie_pp.tasks.interface import Evaluation

Device = Literal["auto", "cpu", "gpu"]


def evaluate_run(
    run_dir: str, *, data: str, split: str | None = None, output: str | None = None, device: Device = "auto"
) -> str:
    """Figures of best/ on the rows of `data`, read as the run's own config says; returns them as text.

    `split` is that of a dataset (none: data.test_split of the run); ConfigError where `data` is a file.
    """
    folder = RunFolder(run_dir)
    folder.check_is_run()
    if output is not None:
        check_writable(Path(output))
    config = load_config(folder.config)
    if split is not None and not is_dataset(data, settings=ReadSettings(format=config.data.format)):
        raise ConfigError("--split", f"has no effect on {data}: it is about datasets", "Leave it out.")
    start_paddle(config.cpu)
    # Imports Paddle at its top, so it must come after the start.
    from ernie_pp.jobs.evaluate_model import evaluate_model

    measured = evaluate_model(
        config.model_copy(update={"device": device}),
        folder.best,
        data=data,
        dataset_split=split if split is not None else config.data.test_split,
        cache=folder.cache,
    )
    if output is not None:
        write_figures(Path(output), {"data": data, **measured.evaluation.to_json()})
    return "\n".join([*_figure_lines(measured.evaluation), *measured.details])


def _figure_lines(evaluation: Evaluation) -> list[str]:
    low, high = evaluation.interval
    lines = [f"{name:20} {value:.4f}" for name, value in evaluation.values.items()]
    rows = say_count(evaluation.num_rows, "row")
    return [*lines, f"{rows}; 95 % interval of {evaluation.headline}: {low:.4f} to {high:.4f}"]
