"""A document whose questions were answered: what pages, JSON and sheet are written from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ernie_pp.tasks.docqa.prediction import FoundAnswer, Prediction
from ernie_pp.tasks.docqa.scores import em_score

# Why a person should look at an answer, or at a question that was not answered.
Doubt = Literal["low score", "another answer is as likely", "there may be an answer", ""]
# Scores are about an answer against none. They are looked at in the open, whatever threshold was tuned for figures.
SURE_FROM, NONE_BELOW = 0.5, 0.2
# An answer elsewhere whose probability is so near to the given one's may be the right one.
CLOSE = 0.1


@dataclass(frozen=True)
class AnsweredQuestion:
    """One question and its answer; `gold` are the texts a right answer may have, "" for none; None: not known."""

    id: str
    question: str
    prediction: Prediction
    gold: tuple[str, ...] | None = None

    @property
    def doubt(self) -> Doubt:
        """Why the answer is in doubt; empty where it is not."""
        prediction = self.prediction
        if prediction.answer is None:
            return "there may be an answer" if prediction.candidates and prediction.score >= NONE_BELOW else ""
        if prediction.score < SURE_FROM:
            return "low score"
        others = (one for one in prediction.candidates[1:] if _is_another(one, prediction.answer))
        close = any(prediction.answer.probability - one.probability < CLOSE for one in others)
        return "another answer is as likely" if close else ""

    @property
    def is_right(self) -> bool | None:
        """Whether the answer is one of the true ones, capitals and punctuation left out; None: they are not known."""
        if self.gold is None:
            return None
        if "" in self.gold:
            return self.prediction.given == ""
        return bool(em_score(self.gold, self.prediction.given, "cmrc2018"))


@dataclass(frozen=True)
class AnsweredDocument:
    """One document: its id as the user knows it, its text, and its questions in the order they were asked."""

    id: str
    text: str
    questions: tuple[AnsweredQuestion, ...]

    @property
    def num_to_look_at(self) -> int:
        """Questions whose answer is in doubt or wrong."""
        return sum(bool(one.doubt) or one.is_right is False for one in self.questions)


@dataclass(frozen=True)
class Counts:
    """How many questions there are, and how they were answered; `num_known`: those whose true answer is known."""

    num_questions: int = 0
    num_answered: int = 0
    num_in_doubt: int = 0
    num_known: int = 0
    num_right: int = 0

    @classmethod
    def of(cls, document: AnsweredDocument) -> Counts:
        """The counts of one document."""
        questions = document.questions
        return cls(
            num_questions=len(questions),
            num_answered=sum(one.prediction.answer is not None for one in questions),
            num_in_doubt=sum(bool(one.doubt) for one in questions),
            num_known=sum(one.gold is not None for one in questions),
            num_right=sum(bool(one.is_right) for one in questions),
        )

    @property
    def num_none(self) -> int:
        """Questions that were answered with: the document has no answer."""
        return self.num_questions - self.num_answered

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.num_questions + other.num_questions,
            self.num_answered + other.num_answered,
            self.num_in_doubt + other.num_in_doubt,
            self.num_known + other.num_known,
            self.num_right + other.num_right,
        )


def _is_another(one: FoundAnswer, answer: FoundAnswer) -> bool:
    """Whether a candidate says something else: another text, and no longer or shorter piece at the same place."""
    if one.text == answer.text:
        return False
    if one.start is None or one.end is None or answer.start is None or answer.end is None:
        return True
    return one.end <= answer.start or answer.end <= one.start
