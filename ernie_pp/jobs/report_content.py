"""A run's figures as the content of its report page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ernie_pp.config import RunConfig, dump_config
from ernie_pp.jobs.figures import say_count
from ernie_pp.jobs.fit import Outcome
from ernie_pp.jobs.prepare import Prepared
from ernie_pp.report import Content, Curve, Histogram, PlanPicture, Table
from ernie_pp.tasks.interface import Evaluation

NUM_MISTAKES = 50
NUM_BINS = 24


@dataclass(frozen=True)
class Story:
    """What a run has to tell: evaluations by name, logged lines, facts (model, machine, time)."""

    figures: Mapping[str, Evaluation]
    history: Sequence[dict]
    facts: Mapping[str, str]
    plan: PlanPicture | None = None


def build_content(config: RunConfig, prepared: Prepared, *, best: Outcome, story: Story) -> Content:
    """Everything report.html shows."""
    evaluation, task, dev = best.evaluation, prepared.task, prepared.splits["dev"]
    sections = task.report_sections(evaluation, best.decoding)
    name, (low, high) = evaluation.headline, evaluation.interval
    interval = f"95 % interval {100 * low:.1f} to {100 * high:.1f} %"
    return Content(
        title=f"{config.task}: {Path(config.output_dir).name}",
        headline=f"dev {name} {100 * evaluation.values[name]:.1f} %",
        headline_note=f"{interval}, {say_count(evaluation.num_rows, 'row')}, step {best.step}",
        facts=list(story.facts.items()),
        notes=[*_baseline_note(story.figures), *_notes(config, prepared)],
        curves=_curves(story.history, name),
        tables=[_figures_table(story.figures), *sections.tables],
        confusion=sections.confusion,
        histograms=[_length_histogram(prepared, config)],
        mistakes=task.mistakes(best.answers, dev, best.decoding, limit=NUM_MISTAKES),
        settings=dump_config(config),
        plan=story.plan,
    )


def _baseline_note(figures: Mapping[str, Evaluation]) -> list[str]:
    """How the model stands beside the best of the plain methods."""
    name = figures["dev"].headline
    plain = {other: one.values[name] for other, one in figures.items() if other not in ("dev", "test")}
    if not plain:
        return []
    best = max(plain, key=lambda other: plain[other])
    told = best if best == "baseline" else f"baseline {best}"
    ahead = 100 * (plain[best] - figures["dev"].values[name])
    if ahead == 0:
        return [f"the model and the {told} have the same {name}"]
    if ahead < 0:
        return [f"the model is {-ahead:.1f} points of {name} ahead of the {told}"]
    cure = "a pretrained model, more of its layers, more rows or more epochs are what closes such a gap"
    return [f"the {told} is {ahead:.1f} points of {name} ahead of this model: {cure}"]


def _notes(config: RunConfig, prepared: Prepared) -> list[str]:
    notes = prepared.task.notes(num_train_rows=len(prepared.splits["train"].rows))
    for name, split in prepared.splits.items():
        cut = int((split.rows.num_cut > 0).sum())
        if cut:
            notes.append(
                f"text.max_length {config.text.max_length} cuts {cut} of {len(split.rows)} {name} rows "
                f"({int(split.rows.num_cut.sum())} tokens, truncate: {config.text.truncate})"
            )
    return notes


def _curves(history: Sequence[dict], metric: str) -> list[Curve]:
    train = [line for line in history if line["kind"] == "train"]
    dev = [line for line in history if line["kind"] == "evaluate"]

    def points(lines: Sequence[dict], name: str) -> list[tuple[float, float]]:
        return [(line["step"], line[name]) for line in lines if line.get(name) is not None]

    return [
        Curve("training loss", {"loss": points(train, "loss")}),
        Curve(f"dev {metric}", {metric: points(dev, metric)}),
        Curve("learning rate", {"learning rate": points(train, "learning_rate")}),
        Curve("tokens per second", {"tokens/s": points(train, "tokens_per_s")}),
    ]


def _figures_table(figures: Mapping[str, Evaluation]) -> Table:
    # A figure about rows of which a split, or a plain method, has none is left out there.
    names = dict.fromkeys(name for one in figures.values() for name in one.values)
    rows = [[name, *(one.values.get(name) for one in figures.values())] for name in names]
    return Table("Figures", ["figure", *figures], rows, percent=frozenset(figures))


def _length_histogram(prepared: Prepared, config: RunConfig) -> Histogram:
    rows = prepared.splits["train"].rows
    lengths = rows.lengths + rows.num_cut
    # The longest hundredth would squeeze all others into the first bin.
    end = max(float(np.percentile(lengths, 99)), config.text.max_length * 1.1)
    counts, edges = np.histogram(np.minimum(lengths, end), bins=NUM_BINS, range=(0, end))
    title = "Length of training rows before any cut (the last bin holds all longer ones)"
    return Histogram(title, edges.tolist(), counts.tolist(), "tokens", float(config.text.max_length))
