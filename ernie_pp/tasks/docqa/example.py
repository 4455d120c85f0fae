"""Questions with answers that a run can learn, and questions to predict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ernie_pp.choices import RowKind
from ernie_pp.data.faults import Faults
from ernie_pp.data.questions.question import Question
from ernie_pp.data.questions.reading import Documents, question_findings, read_questions
from ernie_pp.data.rows import Fault, Place, Row

# What files to predict hold: questions in any layout.
ROW_KIND: RowKind = "questions"


@dataclass(frozen=True)
class Columns:
    """How messages name a question; layouts have names of their own for it and for the document.

    `documents` are those of the rows read before: what comes without an id is numbered over the whole file.
    """

    text: str = "question"
    text_pair: str | None = None
    label: str | None = None
    documents: Documents = field(default_factory=Documents, compare=False)


@dataclass(frozen=True)
class Example:
    """A question to answer from a document, which is its second text."""

    place: Place
    text: str
    text_pair: str
    question: Question


def read_examples(rows: Iterable[Row], columns: Columns, faults: Faults) -> Iterator[Example]:
    """The questions of rows to predict, whose answers are not looked at; what is none becomes a fault."""
    questions = read_questions(
        rows,
        contradictions="answers",
        faults=faults,
        findings=question_findings(),
        needs_answers=False,
        documents=columns.documents,
    )
    for one in questions:
        yield Example(one.place, one.text, one.document.text, one)


def fields_of(row: Row, example: Example) -> dict[str, Any]:
    """What stands beside a prediction: the question and the document's name, for a row holds many of both."""
    question = example.question
    named = {"id": question.id, "document": question.document.id, "question": question.text}
    return {**{name: value for name, value in question.rest.items() if name not in named}, **named}


def kept_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as they stand beside a prediction: answers that a question came with are called true ones."""
    return {"true_answers" if name == "answers" else name: value for name, value in fields.items()}


def keep_known_kinds(examples: Iterable[Question], kinds: Sequence[str], faults: Faults) -> Iterator[Question]:
    """The questions whose answers are of these kinds; each other one becomes a fault."""
    for example in examples:
        if example.kind is None:
            advice = "Give its answers; where there is none, an empty list."
            faults.add(Fault(example.place, f"answers of {example.id}", "nothing", "the answers", advice))
        elif example.kind not in kinds:
            expected = "a span or no answer: no training question is answered yes or no"
            advice = "Train on such questions too, or leave it out."
            faults.add(Fault(example.place, f"answer of {example.id}", example.gold_texts[0], expected, advice))
        else:
            yield example
