"""From a row of any layout to questions as their file has them, each with its document.

Known are articles of SQuAD, DRCD, DuReader and CJRC, a paragraph alone (CMRC's original files are lists of such), and
flat rows with a question and its document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ernie_pp.data.faults import excerpt
from ernie_pp.data.questions.documents import FILE_FIELD, TEXT_FIELDS, Documents
from ernie_pp.data.questions.question import Document
from ernie_pp.data.questions.raw_answers import RawAnswer, read_answers
from ernie_pp.data.readers.strict_json import Problem
from ernie_pp.data.rows import Fault, Place, Row

ANSWERS, FLAG = "answers", "is_impossible"
_ARTICLES, _PARAGRAPHS, _QUESTIONS = "data", "paragraphs", "qas"
_QUESTION_FIELDS, _ID_FIELDS = ("question", "query_text"), ("id", "query_id")
_DOCUMENT_ID_FIELDS, _TITLE_FIELDS = ("id", "context_id", "caseid"), ("title", "casename")
_LAYOUTS = f'"{_PARAGRAPHS}", "{_QUESTIONS}", or "question" with "context" or "{FILE_FIELD}"'
_LAYOUT_ADVICE = "Write the row in one of the layouts that docs/data.md lists."


@dataclass(frozen=True)
class RawQuestion:
    """A question as its file has it, not checked.

    `answers` is None where the file says nothing of them, which an empty list does.
    """

    place: Place
    id: str
    text: Any
    document: Document
    answers: tuple[RawAnswer, ...] | Problem | None
    flag: Any
    rest: Mapping[str, Any]  # all other fields
    source: Mapping[str, Any]  # answers and flag as they stand in the file


def questions_of(row: Row, documents: Documents) -> Iterator[RawQuestion | Fault]:
    """The questions of a row in order; a part that cannot be read is a fault and hides none of the others."""
    yield from _walk(row.fields, _Inside(row.place, documents))


@dataclass(frozen=True)
class _Inside:
    """Where a part of a row stands: the row's place, and the id and title of what it is a part of."""

    place: Place
    documents: Documents
    id: str = ""
    title: str = ""


def _walk(fields: Mapping[str, Any], inside: _Inside) -> Iterator[RawQuestion | Fault]:
    if _PARAGRAPHS in fields:
        yield from _article(fields, inside)
    elif _QUESTIONS in fields:
        yield from _paragraph(fields, inside)
    elif _first(fields, _QUESTION_FIELDS) is not None:
        yield from _flat(fields, inside)
    elif _ARTICLES in fields:
        for article in _objects(fields, _ARTICLES, inside):
            yield from [article] if isinstance(article, Fault) else _walk(article, inside)
    else:
        yield Fault(inside.place, "fields", ", ".join(fields), _LAYOUTS, _LAYOUT_ADVICE)


def _article(fields: Mapping[str, Any], inside: _Inside) -> Iterator[RawQuestion | Fault]:
    own, title = _name(fields, _DOCUMENT_ID_FIELDS), _name(fields, _TITLE_FIELDS)
    paragraphs = list(_objects(fields, _PARAGRAPHS, inside))
    for number, paragraph in enumerate(paragraphs, start=1):
        if isinstance(paragraph, Fault):
            yield paragraph
            continue
        name = own if len(paragraphs) == 1 or not own else f"{own}-{number}"
        yield from _paragraph(paragraph, _Inside(inside.place, inside.documents, name, title))


def _paragraph(fields: Mapping[str, Any], inside: _Inside) -> Iterator[RawQuestion | Fault]:
    own = _name(fields, _DOCUMENT_ID_FIELDS) or inside.id
    document = _document(fields, own, inside)
    if isinstance(document, Fault):
        yield document
        return
    for one in _objects(fields, _QUESTIONS, replace(inside, id=document.id)):
        yield one if isinstance(one, Fault) else _question(one, document, inside)


def _flat(fields: Mapping[str, Any], inside: _Inside) -> Iterator[RawQuestion | Fault]:
    document = _document(fields, "", inside)
    if isinstance(document, Fault):
        yield document
        return
    own = set(TEXT_FIELDS) if _first(fields, TEXT_FIELDS) else {FILE_FIELD}
    yield _question({key: value for key, value in fields.items() if key not in own}, document, inside)


def _document(fields: Mapping[str, Any], own_id: str, inside: _Inside) -> Document | Fault:
    path = inside.place.path
    if not own_id and _first(fields, TEXT_FIELDS) is None:
        own_id = _name(fields, [FILE_FIELD])
    text = inside.documents.text_of(fields, path=path)
    if isinstance(text, Problem):
        fault = text.at(inside.place)
        return _about(fault, own_id) if own_id else fault
    title = _name(fields, _TITLE_FIELDS) or inside.title
    return inside.documents.record(text, path=path, own_id=own_id, title=title)


def _question(fields: Mapping[str, Any], document: Document, inside: _Inside) -> RawQuestion | Fault:
    place = inside.place
    number = inside.documents.next_question_id(document, path=place.path)
    name = _name(fields, _ID_FIELDS) or number
    text = _first(fields, _QUESTION_FIELDS)
    if text is None:
        advice = "Give every question its text."
        return _about(Fault(place, "fields", ", ".join(fields), 'a field "question"', advice), name)
    answers = read_answers(fields[ANSWERS]) if ANSWERS in fields else None
    own = {*_QUESTION_FIELDS, *_ID_FIELDS, ANSWERS, FLAG}
    rest = {key: value for key, value in fields.items() if key not in own}
    source = {key: fields[key] for key in (ANSWERS, FLAG) if key in fields}
    return RawQuestion(place, name, fields[text], document, answers, fields.get(FLAG), rest, source)


def _objects(fields: Mapping[str, Any], name: str, inside: _Inside) -> Iterator[Mapping[str, Any] | Fault]:
    values = fields.get(name)
    if not isinstance(values, list):
        shown = excerpt(values) if name in fields else "nothing"
        fault = Fault(inside.place, name, shown, "a list of JSON objects", _LAYOUT_ADVICE)
        yield _about(fault, inside.id) if inside.id else fault
        return
    for number, value in enumerate(values, start=1):
        if isinstance(value, Mapping):
            yield value
        else:
            shown = excerpt(value)
            yield Fault(inside.place, f"{name}, number {number}", shown, "a JSON object", _LAYOUT_ADVICE)


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of the names that a field has."""
    return next((name for name in names if name in fields), None)


def _name(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    """The value of the first of these fields that is a text or a whole number; empty where none is."""
    values = (fields.get(name) for name in names)
    return next((str(value) for value in values if type(value) in (str, int) and value != ""), "")


def _about(fault: Fault, name: str) -> Fault:
    return Fault(fault.place, f"{fault.column} of {name}", fault.value, fault.expected, fault.advice)
