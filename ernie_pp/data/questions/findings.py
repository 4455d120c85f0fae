"""What may be noticed in a file of questions and is not held against it."""

from __future__ import annotations

from ernie_pp.data.findings import Findings

_ALIKE = "but for width, blanks, punctuation and case"
_KINDS = {
    "from_one": "starts that count from 1, as those of the file do, read so",
    "missing": "answers without a start, located in the document",
    "missing_alike": f"answers without a start, located {_ALIKE}",
    "ambiguous": "answers without a start that the document has several times, located at the first",
    "moved": "answers that are not at their start, moved to the nearest place that has them",
    "moved_alike": f"answers that are not at their start, moved to the nearest place that has them {_ALIKE}",
    "not_in_document": "answers that the document does not have, beside others that it has: for measuring only",
    "blank_edge": "answers that begin or end with a blank, located without it",
    "same_id": "questions with the id of another one",
    "mixed": "questions with an answer from some annotators and none from others",
    "mixed_kinds": "questions answered by yes, by no or by a span, of which the most frequent one counts",
    "contradiction": "questions whose is_impossible says other than their answers, settled by docqa.contradictions",
}


def question_findings() -> Findings:
    """The findings of one file of questions, none so far."""
    return Findings(_KINDS)
