"""What one question to one document is answered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ernie_pp.data.questions.question import NO, YES, AnswerKind
from ernie_pp.text.outline import Outline


@dataclass(frozen=True)
class FoundAnswer:
    """One candidate: a span of the document, or yes or no, which have no place.

    `probability` is its share among all candidates and "no answer"; those of one question sum to 1 at most.
    """

    kind: AnswerKind
    text: str  # of a span: document[start:end]
    probability: float
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Prediction:
    """The answer to one question: the best candidate where its score reaches the threshold, else there is none.

    `score` is how sure it is that the best candidate is an answer, against "no answer": 0 to 1. `candidates` come
    with the best first; there is none only where the document has no token.
    """

    kind: AnswerKind
    score: float
    candidates: tuple[FoundAnswer, ...]
    document: str = ""  # the text that candidates are places of

    @property
    def answer(self) -> FoundAnswer | None:
        """The candidate that is given as the answer."""
        return None if self.kind == "none" else self.candidates[0]

    @property
    def given(self) -> str:
        """The answer as metrics read it: its text, YES or NO, or empty where there is none."""
        return "" if self.answer is None else self.answer.text

    @property
    def best(self) -> str:
        """The best candidate's text, whether or not it is given."""
        return self.candidates[0].text if self.candidates else ""

    def to_fields(self) -> dict[str, object]:
        """The fields `predict` adds to a question."""
        answer = self.answer
        outline = outline_of(self.document)
        place = {} if answer is None or answer.start is None else {"start": answer.start, "end": answer.end}
        candidates = [_fields(one, self.document, outline) for one in self.candidates]
        return {"answer": self.given, "kind": self.kind, **place, "score": self.score, "candidates": candidates}


@lru_cache(maxsize=4)
def outline_of(document: str) -> Outline:
    """A document's pages and paragraphs; questions to one document mostly come one after the other."""
    return Outline(document)


def _fields(found: FoundAnswer, document: str, outline: Outline) -> dict[str, object]:
    plain: dict[str, object] = {"text": found.text, "probability": found.probability}
    if found.start is None or found.end is None:
        return plain
    begin, end = outline.clause_around(found.start, found.end)
    where = {"page": outline.page_of(found.start), "paragraph": outline.paragraph_of(found.start)}
    known = {name: number for name, number in where.items() if number is not None}
    return {**plain, "start": found.start, "end": found.end, **known, "clause": document[begin:end]}


def yes_or_no(kind: AnswerKind) -> str:
    """The text of a candidate that is no span."""
    return {"yes": YES, "no": NO}[kind]
