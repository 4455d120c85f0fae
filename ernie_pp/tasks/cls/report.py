"""What the report and the screen show of a classification beside its averaged figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ernie_pp.report import Confusion, Mistake, Table
from ernie_pp.tasks.cls.decode import DecodeSettings, choose_labels, probabilities
from ernie_pp.tasks.cls.example import Example
from ernie_pp.tasks.cls.metric import Evaluation
from ernie_pp.tasks.interface import ReportSections


def report_sections(evaluation: Evaluation, labels: Sequence[str]) -> ReportSections:
    """Figures by label and, for single-label problems, which label was taken for which."""
    confusion = Confusion(labels, evaluation.confusion) if evaluation.confusion is not None else None
    return ReportSections([_label_table(evaluation)], confusion)


def label_lines(evaluation: Evaluation) -> list[str]:
    """Figures by label, as lines of text."""
    lines = [f"{'label':20} precision  recall      F1    rows"]
    for f in evaluation.per_label:
        lines.append(f"{f.label:20} {f.precision:9.4f} {f.recall:7.4f} {f.f1:7.4f} {f.support:7d}")
    return lines


def list_mistakes(
    examples: Sequence[Example], logits: np.ndarray, true: np.ndarray, settings: DecodeSettings, *, limit: int
) -> list[Mistake]:
    """Wrongly answered rows, surest first, each with the probability of its answer.

    `true` is bool [rows, labels]. For multi-label the probability is that of the surest wrong decision about a label.
    """
    table = probabilities(logits, multi_label=settings.multi_label)
    chosen = choose_labels(logits, settings)
    wrong = chosen != true
    # How sure the model was of each decision: p where it gave the label, 1 - p where it did not.
    sureness = np.where(chosen, table, 1 - table if settings.multi_label else 0.0) * wrong
    rows = np.flatnonzero(wrong.any(axis=1))
    ordered = rows[np.argsort(-sureness[rows].max(axis=1), kind="stable")][:limit]
    return [
        Mistake(
            place=str(examples[row].place),
            text=examples[row].joined_text,
            true=_named(true[row], settings.labels),
            given=_named(chosen[row], settings.labels),
            probability=float(sureness[row].max()),
        )
        for row in ordered
    ]


def _label_table(evaluation: Evaluation) -> Table:
    rows = [[f.label, f.precision, f.recall, f.f1, f.support] for f in evaluation.per_label]
    percent = frozenset({"precision", "recall", "F1"})
    return Table("By label (dev)", ["label", "precision", "recall", "F1", "rows"], rows, percent=percent)


def _named(given: np.ndarray, labels: Sequence[str]) -> str:
    return ", ".join(name for name, has in zip(labels, given, strict=True) if has) or "(none)"
