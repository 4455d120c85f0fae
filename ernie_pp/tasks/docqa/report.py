"""What the report and the screen show of answers beside their averaged figures."""

from __future__ import annotations

from collections.abc import Sequence

from ernie_pp.report import Table
from ernie_pp.tasks.docqa.metric import Evaluation, GroupFigures
from ernie_pp.tasks.interface import ReportSections

_WIDTH = 26
_SAID = {"span": "a span of the document", "none": "no answer", "yes": "yes", "no": "no"}


def group_lines(evaluation: Evaluation) -> list[str]:
    """Figures by what the true answer is, by its length, by document length and by windows, as lines of text."""
    lines: list[str] = []
    for title, groups in _groupings(evaluation):
        lines += ["", f"{title:{_WIDTH}}      EM      F1 questions"]
        lines += [f"{f.name:{_WIDTH}} {f.em:7.4f} {f.f1:7.4f} {f.num:9d}" for f in groups]
    return lines[1:]


def report_sections(evaluation: Evaluation) -> ReportSections:
    """The same groups as tables."""
    return ReportSections([_table(title, groups) for title, groups in _groupings(evaluation)])


def _groupings(evaluation: Evaluation) -> list[tuple[str, Sequence[GroupFigures]]]:
    """The groupings that have a group: there are no lengths where no answer is a span."""
    kinds = [GroupFigures(_SAID[one.name], one.num, one.em, one.f1) for one in evaluation.by_kind]
    found: list[tuple[str, Sequence[GroupFigures]]] = [
        ("true answer", kinds),
        ("characters of the answer", evaluation.by_answer_length),
        ("characters of the document", evaluation.by_document_length),
        ("windows of the document", evaluation.by_num_windows),
    ]
    return [(title, groups) for title, groups in found if groups]


def _table(title: str, groups: Sequence[GroupFigures]) -> Table:
    rows = [[f.name, f.em, f.f1, f.num] for f in groups]
    columns = [title, "EM", "F1", "questions"]
    return Table(f"By {title} (dev)", columns, rows, percent=frozenset({"EM", "F1"}))
