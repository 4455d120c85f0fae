"""From rows of any layout to questions: answers are checked against the documents, over the whole file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ernie_pp.data.faults import Faults, excerpt
from ernie_pp.data.findings import Findings
from ernie_pp.data.questions.checks import Checks, check_question
from ernie_pp.data.questions.counting import counts_from_one
from ernie_pp.data.questions.documents import Documents
from ernie_pp.data.questions.findings import question_findings
from ernie_pp.data.questions.layouts import RawQuestion, questions_of
from ernie_pp.data.questions.question import Question
from ernie_pp.data.questions.settling import Contradictions
from ernie_pp.data.rows import Fault, Row
from ernie_pp.text.invisible import is_blank

__all__ = ["Contradictions", "Documents", "question_findings", "read_questions"]


def read_questions(
    rows: Iterable[Row],
    *,
    contradictions: Contradictions,
    faults: Faults,
    findings: Findings,
    needs_answers: bool = True,
    documents: Documents | None = None,
) -> list[Question]:
    """The sound questions of one file, in order; what is wrong becomes a fault, what is odd a finding.

    How a file counts starts is looked for over all of its answers, so all rows are held. Without `needs_answers` no
    answer is looked at: answers and flag stay in `rest`, as the file has them. `documents` are those of rows before,
    where a file is read in parts.
    """
    asked = list(_asked(rows, documents or Documents(), faults))
    _note_same_ids(asked, findings)
    if not needs_answers:
        return [Question(raw.place, raw.id, raw.text, raw.document, rest={**raw.rest, **raw.source}) for raw in asked]
    checks = Checks(contradictions, counts_from_one(asked), faults, findings)
    checked = (check_question(raw, checks) for raw in asked)
    return [question for question in checked if question is not None]


def _asked(rows: Iterable[Row], documents: Documents, faults: Faults) -> Iterator[RawQuestion]:
    """The questions that have a text."""
    for row in rows:
        for one in questions_of(row, documents):
            if isinstance(one, Fault):
                faults.add(one)
            elif not isinstance(one.text, str) or is_blank(one.text):
                shown, advice = excerpt(one.text), "Write the question, or leave it out."
                faults.add(Fault(one.place, f"question of {one.id}", shown, "a text that is not empty", advice))
            else:
                yield one


def _note_same_ids(asked: Sequence[RawQuestion], findings: Findings) -> None:
    seen: set[str] = set()
    for raw in asked:
        if raw.id in seen:
            findings.add("same_id", raw.place, excerpt(raw.id))
        seen.add(raw.id)
