"""What one question to one document is answered."""

from __future__ import annotations

from dataclasses import dataclass

from ernie_pp.data.questions.question import NO, YES, AnswerKind


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


def yes_or_no(kind: AnswerKind) -> str:
    """The text of a candidate that is no span."""
    return {"yes": YES, "no": NO}[kind]
