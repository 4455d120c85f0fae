"""What the report and the screen show of entities beside their averaged figures."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from ernie_pp.data.entities.document import Document, Entity, Mention
from ernie_pp.report import Mistake, Table
from ernie_pp.tasks.interface import ReportSections
from ernie_pp.tasks.ner.errors import KINDS, kind_of_error
from ernie_pp.tasks.ner.metric import Evaluation, GroupFigures

AROUND = 20  # characters shown on each side of a mistake
_WIDTH = 20
_SAID = {
    "type": "right place, wrong type",
    "border": "overlaps a true one of its type",
    "border_and_type": "overlaps true ones of other types only",
    "spurious": "overlaps no true one",
    "missed": "true ones that nothing given overlaps",
}
Place = tuple[int, int, str]


def type_lines(evaluation: Evaluation) -> list[str]:
    """Figures by type, figures by length, and mistakes by kind, as lines of text."""
    lines = _group_lines("type", evaluation.per_type)
    lines += ["", *_group_lines("characters", evaluation.by_length), ""]
    return lines + [f"{said + ':':42}{count:7d}" for said, count in _error_rows(evaluation)]


def report_sections(evaluation: Evaluation) -> ReportSections:
    """Figures by type and by length, and mistakes by kind."""
    errors = Table(
        "Mistakes by kind (dev)", ["what is wrong", "entities"], [list(row) for row in _error_rows(evaluation)]
    )
    by_type = _group_table("By type (dev)", "type", evaluation.per_type)
    return ReportSections([by_type, _group_table("By length (dev)", "characters", evaluation.by_length), errors])


def list_mistakes(documents: Sequence[Document], given: Sequence[Sequence[Mention]], *, limit: int) -> list[Mistake]:
    """Wrong entities, surest first, then those that were missed, in the order of the documents."""
    wrong, missed = [], []
    for document, mentions in zip(documents, given, strict=True):
        true = {(one.start, one.end, one.label) for one in document.entities or ()}
        found = {(one.start, one.end, one.label): one for one in mentions}
        wrong += [_wrong(document, one, true) for place, one in found.items() if place not in true]
        missed += list(_missed(document, true, set(found)))
    wrong.sort(key=lambda mistake: -mistake.probability)
    return [*wrong, *missed][:limit]


def _group_lines(title: str, groups: Sequence[GroupFigures]) -> list[str]:
    lines = [f"{title:{_WIDTH}} precision  recall      F1    true   given"]
    for f in groups:
        figures = f"{f.precision:9.4f} {f.recall:7.4f} {f.f1:7.4f} {f.support:7d} {f.given:7d}"
        lines.append(f"{_padded(f.name)} {figures}")
    return lines


def _padded(name: str) -> str:
    """The name at the left of a column; wide characters take two places of a terminal."""
    width = sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in name)
    return name + " " * max(_WIDTH - width, 0)


def _error_rows(evaluation: Evaluation) -> list[tuple[str, int]]:
    return [(_SAID[kind], getattr(evaluation.errors, kind)) for kind in (*KINDS, "missed")]


def _group_table(title: str, name: str, groups: Sequence[GroupFigures]) -> Table:
    columns = [name, "precision", "recall", "F1", "true", "given"]
    rows = [[f.name, f.precision, f.recall, f.f1, f.support, f.given] for f in groups]
    return Table(title, columns, rows, percent=frozenset({"precision", "recall", "F1"}))


def _wrong(document: Document, one: Mention, true: set[Place]) -> Mistake:
    place = (one.start, one.end, one.label)
    near = sorted(other for other in true if other[0] < one.end and one.start < other[1])
    return Mistake(
        place=str(document.place),
        text=_around(document.text, one),
        true=", ".join(f"{label} {document.text[start:end]}" for start, end, label in near) or "(none)",
        given=f"{one.label} ({_SAID[kind_of_error(place, true)]})",
        probability=one.score,
    )


def _missed(document: Document, true: set[Place], found: set[Place]) -> Iterator[Mistake]:
    for start, end, label in sorted(true - found):
        if not any(one[0] < end and start < one[1] for one in found):
            text = _around(document.text, Entity(start, end, label))
            yield Mistake(str(document.place), text, label, "(none)", 0.0)


def _around(text: str, entity: Entity) -> str:
    """The entity in 【】 with some text on each side."""
    before, behind = text[max(0, entity.start - AROUND) : entity.start], text[entity.end : entity.end + AROUND]
    return f"{before}【{text[entity.start : entity.end]}】{behind}"
