"""Measuring a run's best model on labelled rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from ernie_pp.config import RunConfig, load_config
from ernie_pp.data.labels import LabelSet
from ernie_pp.durable import check_writable, write_json
from ernie_pp.jobs.start import start_paddle
from ernie_pp.training.checkpoint import read_settings
from ernie_pp.training.run_folder import RunFolder

Device = Literal["auto", "cpu", "gpu"]


def evaluate_run(run_dir: str, *, data: str, output: str | None = None, device: Device = "auto") -> str:
    """Figures of best/ on the rows of `data`, read as the run's own config says; returns them as text."""
    folder = RunFolder(run_dir)
    folder.check_is_run()
    if output is not None:
        check_writable(Path(output))
    config = load_config(folder.config)
    start_paddle(config.cpu)
    evaluation = _evaluate(config.model_copy(update={"device": device}), folder, data)
    if output is not None:
        write_json(Path(output), {"data": data, **evaluation.to_json()})
    return _as_text(evaluation)


def _evaluate(config: RunConfig, folder: RunFolder, data: str) -> Any:
    # Imports Paddle at its top, so it must come after the start.
    from ernie_pp.jobs.evaluation import evaluate_model

    settings = read_settings(folder.best)
    labels = LabelSet(tuple(settings["label_values"]), tuple(settings["decode"]["labels"]))
    return evaluate_model(config, folder.best, data=data, labels=labels, cache=folder.cache)


def _as_text(evaluation: Any) -> str:
    low, high = evaluation.interval
    lines = [f"{name:20} {value:.4f}" for name, value in evaluation.values.items()]
    lines.append(f"{evaluation.num_rows} rows; 95 % interval of {evaluation.headline}: {low:.4f} to {high:.4f}")
    lines.append(f"{'label':20} precision  recall      F1    rows")
    for f in evaluation.per_label:
        lines.append(f"{f.label:20} {f.precision:9.4f} {f.recall:7.4f} {f.f1:7.4f} {f.support:7d}")
    return "\n".join(lines)
