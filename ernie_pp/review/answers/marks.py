"""The candidates of all questions as marks in the document's text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ernie_pp.data.entities.document import Mention
from ernie_pp.review.answers.answered import AnsweredDocument
from ernie_pp.review.marked import NUM_COLOURS, anchors
from ernie_pp.tasks.docqa.prediction import Prediction

# A question's answer has its colour, its other candidates have a kind of their own in the same colour.
NUM_KINDS = 2 * NUM_COLOURS


@dataclass(frozen=True)
class CandidateMarks:
    """What is marked, the kind of each label, and the anchor a candidate's link leads to.

    A label is the question's number, or `3.2` for the second candidate of question 3. `links` are by question and
    candidate, both counted from 0.
    """

    mentions: tuple[Mention, ...]
    kinds: Mapping[str, int]
    links: Mapping[tuple[int, int], str]


def mark_candidates(document: AnsweredDocument) -> CandidateMarks:
    """Mark every candidate, but for those that overlap a better one of their question: these lead to that one."""
    found, kinds = {}, {}
    for index, question in enumerate(document.questions):
        for rank, mention in _mark_question(question.prediction, number=index + 1, told=question.question):
            found[index, rank] = mention
            is_answer = question.prediction.answer is not None and mention.label == str(index + 1)
            kinds[mention.label] = index % NUM_COLOURS + (0 if is_answer else NUM_COLOURS)
    mentions = tuple(dict.fromkeys(found.values()))
    names = anchors(mentions)
    return CandidateMarks(mentions, kinds, {key: names[mention] for key, mention in found.items()})


def _mark_question(prediction: Prediction, *, number: int, told: str) -> Iterator[tuple[int, Mention]]:
    marked: list[Mention] = []
    for rank, one in enumerate(prediction.candidates):
        if one.start is None or one.end is None:
            continue
        over = next((mark for mark in marked if one.start < mark.end and mark.start < one.end), None)
        if over is None:
            is_answer = rank == 0 and prediction.answer is not None
            label = str(number) if is_answer else f"{number}.{rank + 1}"
            over = Mention(one.start, one.end, label, one.probability, told)
            marked.append(over)
        yield rank, over
