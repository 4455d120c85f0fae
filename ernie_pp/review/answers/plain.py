"""Answered documents as plain values and as lines of a spreadsheet."""

from __future__ import annotations

from ernie_pp.review.answers.answered import AnsweredDocument, AnsweredQuestion
from ernie_pp.review.answers.places import place_of
from ernie_pp.review.sheet import BYTE_ORDER_MARK, sheet_line
from ernie_pp.tasks.docqa.prediction import FoundAnswer

_COLUMNS = (
    "文档",
    "问题编号",
    "问题",
    "状态",
    "存疑",
    "答案",
    "得分",
    "概率",
    "起",
    "止",
    "页",
    "段",
    "所在句",
    "标准答案",
    "正确",
)


def document_as_json(document: AnsweredDocument) -> dict[str, object]:
    """The document's answers as plain values; the text itself is left out."""
    questions = [_question_as_json(one, document.text) for one in document.questions]
    return {"id": document.id, "num_characters": len(document.text), "questions": questions}


def sheet_head() -> str:
    """The first line of the sheet."""
    return BYTE_ORDER_MARK + sheet_line(_COLUMNS)


def sheet_lines(document: AnsweredDocument) -> str:
    """A line a question; several true answers are joined by "; "."""
    return "".join(sheet_line(_cells(one, document)) for one in document.questions)


def _question_as_json(question: AnsweredQuestion, text: str) -> dict[str, object]:
    prediction = question.prediction
    answer = prediction.answer
    return {
        "id": question.id,
        "question": question.question,
        "kind": prediction.kind,
        "score": round(prediction.score, 6),
        "doubt": question.doubt,
        "answer": None if answer is None else _candidate_as_json(answer, text),
        "candidates": [_candidate_as_json(one, text) for one in prediction.candidates],
        "gold": None if question.gold is None else list(question.gold),
        "right": question.is_right,
    }


def _candidate_as_json(found: FoundAnswer, text: str) -> dict[str, object]:
    values: dict[str, object] = {"kind": found.kind, "text": found.text, "probability": round(found.probability, 6)}
    place = place_of(found, text)
    if place is None:
        return values | dict.fromkeys(("start", "end", "page", "paragraph", "clause"))
    clause = text[slice(*place.clause)]
    where = {"start": place.start, "end": place.end, "page": place.page, "paragraph": place.paragraph}
    return values | where | {"clause": clause}


def _cells(question: AnsweredQuestion, document: AnsweredDocument) -> list[str]:
    prediction = question.prediction
    answer = prediction.answer
    place = None if answer is None else place_of(answer, document.text)
    where = ["", "", "", "", ""]
    if place is not None:
        page = "" if place.page is None else str(place.page)
        where = [str(place.start), str(place.end), page, str(place.paragraph), document.text[slice(*place.clause)]]
    right = {None: "", True: "yes", False: "no"}[question.is_right]
    return [
        document.id,
        question.id,
        question.question,
        prediction.kind,
        question.doubt,
        prediction.given,
        f"{prediction.score:.4f}",
        "" if answer is None else f"{answer.probability:.4f}",
        *where,
        "; ".join(question.gold or ()),
        right,
    ]
