"""A question to a document, with the answers its file gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ernie_pp.data.rows import Place

# What answers a question: a span of the document, nothing in it, or yes or no.
AnswerKind = Literal["span", "none", "yes", "no"]
# How yes and no stand in files and in predictions.
YES, NO = "YES", "NO"


@dataclass(frozen=True)
class Document:
    """A text that is asked; all questions to one document share one record of it."""

    id: str
    text: str
    title: str = ""


@dataclass(frozen=True)
class Answer:
    """An answer as its file has it; `start` and `end` (exclusive) are its place in the document's code points.

    Both are None where the document has no such text: the answer counts for measuring, and nothing is learned from it.
    `document.text[start:end]` may differ from `text` in width, blanks and punctuation.
    """

    text: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Question:
    """One question; `kind` is None where no answer is known, as in rows to predict.

    Of kind span it has answers, at least one of them with a place; of any other kind it has none.
    """

    place: Place
    id: str
    text: str
    document: Document
    kind: AnswerKind | None = None
    answers: tuple[Answer, ...] = ()
    rest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gold_texts(self) -> tuple[str, ...]:
        """What a right answer may read; empty text: there is none."""
        if self.kind == "span":
            return tuple(answer.text for answer in self.answers)
        return {"yes": (YES,), "no": (NO,)}.get(self.kind or "none", ("",))
