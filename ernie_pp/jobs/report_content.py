"""A classification run's figures as the content of its report page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ernie_pp.config import RunConfig, dump_config
from ernie_pp.jobs.fit import Outcome
from ernie_pp.jobs.prepare import Prepared
from ernie_pp.report.content import Confusion, Content, Curve, Histogram, Mistake, Table

NUM_MISTAKES = 50
NUM_BINS = 24


@dataclass(frozen=True)
class Story:
    """What a run has to tell: evaluations by name, logged lines, facts (model, machine, time)."""

    figures: Mapping[str, Any]
    history: Sequence[dict]
    facts: Mapping[str, str]


def build_content(config: RunConfig, prepared: Prepared, *, best: Outcome, story: Story) -> Content:
    """Everything report.html shows."""
    evaluation = best.evaluation
    name, (low, high) = evaluation.headline, evaluation.interval
    interval = f"95 % interval {100 * low:.1f} to {100 * high:.1f} %"
    return Content(
        title=f"{config.task}: {Path(config.output_dir).name}",
        headline=f"dev {name} {100 * evaluation.values[name]:.1f} %",
        headline_note=f"{interval}, {evaluation.num_rows} rows, step {best.step}",
        facts=list(story.facts.items()),
        notes=[*_baseline_note(story.figures), *_notes(config, prepared)],
        curves=_curves(story.history, name),
        tables=[_figures_table(story.figures), _label_table(evaluation)],
        confusion=Confusion(best.decoding.labels, evaluation.confusion) if evaluation.confusion else None,
        histograms=[_length_histogram(prepared, config)],
        mistakes=_mistakes(prepared, best),
        settings=dump_config(config),
    )


def _mistakes(prepared: Prepared, best: Outcome) -> list[Mistake]:
    found = prepared.task.mistakes(prepared.splits["dev"].examples, best.logits, best.decoding)
    mistakes = []
    for example, true, given, probability in found[:NUM_MISTAKES]:
        text = "\n".join(filter(None, (example.text, example.text_pair)))
        mistakes.append(Mistake(str(example.place), text, true, given, probability))
    return mistakes


def _baseline_note(figures: Mapping[str, Any]) -> list[str]:
    if "baseline" not in figures:
        return []
    name = figures["dev"].headline
    ahead = 100 * (figures["baseline"].values[name] - figures["dev"].values[name])
    if ahead <= 0:
        return []
    cure = "a pretrained model, more of its layers, more rows or more epochs are what closes such a gap"
    return [f"the baseline is {ahead:.1f} points of {name} ahead of this model: {cure}"]


def _notes(config: RunConfig, prepared: Prepared) -> list[str]:
    notes = prepared.task.notes()
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
        return [(line["step"], line[name]) for line in lines if line[name] is not None]

    return [
        Curve("training loss", {"loss": points(train, "loss")}),
        Curve(f"dev {metric}", {metric: points(dev, metric)}),
        Curve("learning rate", {"learning rate": points(train, "learning_rate")}),
        Curve("tokens per second", {"tokens/s": points(train, "tokens_per_s")}),
    ]


def _figures_table(figures: Mapping[str, Any]) -> Table:
    rows = [[name, *(one.values[name] for one in figures.values())] for name in figures["dev"].values]
    return Table("Figures", ["figure", *figures], rows, percent=frozenset(figures))


def _label_table(evaluation: Any) -> Table:
    rows = [[f.label, f.precision, f.recall, f.f1, f.support] for f in evaluation.per_label]
    percent = frozenset({"precision", "recall", "F1"})
    return Table("By label (dev)", ["label", "precision", "recall", "F1", "rows"], rows, percent=percent)


def _length_histogram(prepared: Prepared, config: RunConfig) -> Histogram:
    rows = prepared.splits["train"].rows
    lengths = rows.lengths + rows.num_cut
    # The longest hundredth would squeeze all others into the first bin.
    end = max(float(np.percentile(lengths, 99)), config.text.max_length * 1.1)
    counts, edges = np.histogram(np.minimum(lengths, end), bins=NUM_BINS, range=(0, end))
    title = "Length of training rows before any cut (the last bin holds all longer ones)"
    return Histogram(title, edges.tolist(), counts.tolist(), "tokens", float(config.text.max_length))
