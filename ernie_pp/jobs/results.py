"""A run's figures and dev predictions as files, and as lines for the screen."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ernie_pp.durable import replaced_file
from ernie_pp.jobs.figures import say_count, write_figures
from ernie_pp.jobs.fit import Outcome
from ernie_pp.jobs.prepare import Prepared
from ernie_pp.tasks.interface import Evaluation
from ernie_pp.training.run_folder import RunFolder


def write_results(prepared: Prepared, folder: RunFolder, best: Outcome, figures: Mapping[str, Evaluation]) -> None:
    """metrics.json with every evaluation, predictions.jsonl with the best model's answers on dev."""
    evaluations = {name: evaluation.to_json() for name, evaluation in figures.items()}
    write_figures(folder.metrics, {"best_step": best.step, **evaluations})
    task, dev = prepared.task, prepared.splits["dev"]
    with replaced_file(folder.predictions) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        for example, prediction in zip(dev.examples, task.decode(best.answers, dev, best.decoding), strict=True):
            file.write(json.dumps(task.describe(example, prediction), ensure_ascii=False) + "\n")


def summarize(figures: Mapping[str, Evaluation]) -> str:
    """The headline figure of every evaluation, one a line."""
    return "\n".join(_line(name, evaluation) for name, evaluation in figures.items())


def _line(name: str, evaluation: Evaluation) -> str:
    value, (low, high) = evaluation.values[evaluation.headline], evaluation.interval
    interval = f"95 % interval {low:.4f} to {high:.4f}"
    return f"{name + ':':10} {evaluation.headline} {value:.4f} ({interval}, {say_count(evaluation.num_rows, 'row')})"
