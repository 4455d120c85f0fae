"""What the report and the screen show of entities beside their averaged figures."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from ernie_pp.data.entities.document import Document, Entity, Mention
from ernie_pp.report import Mistake, Table
from ernie_pp.tasks.interface import ReportSections
from ernie_pp.tasks.ner.errors import KINDS, PlaceIndex, kind_of_error
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
    pairs = list(zip(documents, given, strict=True))
    wrong = [found for document, mentions in pairs for found in _wrong(document, mentions)]
    wrong.sort(key=lambda found: -found[0].score)  # equally sure ones stay in the order of the documents
    missed = (mistake for document, mentions in pairs for mistake in _missed(document, mentions))
    shown = [_shown(*found) for found in wrong[:limit]]
    return [*shown, *itertools.islice(missed, max(limit - len(shown), 0))]


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


def _places(entities: Iterable[Entity]) -> set[Place]:
    return {(one.start, one.end, one.label) for one in entities}


def _wrong(document: Document, mentions: Sequence[Mention]) -> Iterator[tuple[Mention, Document, PlaceIndex]]:
    true = _places(document.entities or ())
    index = PlaceIndex(true)
    return ((one, document, index) for one in mentions if (one.start, one.end, one.label) not in true)


def _shown(one: Mention, document: Document, true: PlaceIndex) -> Mistake:
    place = (one.start, one.end, one.label)
    near = true.overlapping(place)
    return Mistake(
        place=str(document.place),
        text=_around(document.text, one),
        true=", ".join(f"{label} {document.text[start:end]}" for start, end, label in near) or "(none)",
        given=f"{one.label} ({_SAID[kind_of_error(place, near)]})",
        probability=one.score,
    )


def _missed(document: Document, mentions: Sequence[Mention]) -> Iterator[Mistake]:
    found = PlaceIndex(_places(mentions))
    for place in sorted(_places(document.entities or ())):
        if not found.overlapping(place):
            yield Mistake(str(document.place), _around(document.text, Entity(*place)), place[2], "(none)", 0.0)


def _around(text: str, entity: Entity) -> str:
    """The entity in 【】 with some text on each side."""
    before, behind = text[max(0, entity.start - AROUND) : entity.start], text[entity.end : entity.end + AROUND]
    return f"{before}【{text[entity.start : entity.end]}】{behind}"
