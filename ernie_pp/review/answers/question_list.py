"""The questions of a document as the page shows them, in the order they were asked."""

from __future__ import annotations

from collections.abc import Mapping

from ernie_pp.data.questions.question import NO, YES
from ernie_pp.report.values import escape_visibly
from ernie_pp.review.answers.answered import AnsweredDocument, AnsweredQuestion
from ernie_pp.review.answers.places import AnswerPlace, place_of
from ernie_pp.review.marked import NUM_COLOURS
from ernie_pp.tasks.docqa.prediction import FoundAnswer

NO_ANSWER = "文中没有答案"
DOUBTS = {
    "low score": "得分偏低",
    "another answer is as likely": "另一个答案同样可能",
    "there may be an answer": "可能有答案",
    "": "",
}
_WORDS = {YES: "是", NO: "否", "": NO_ANSWER}
# A longer one is read in the text itself.
_MAX_SHOWN = 300

Links = Mapping[tuple[int, int], str]


def list_questions(document: AnsweredDocument, links: Links) -> str:
    """All questions with their answers, candidates and true answers; `links` are anchors as CandidateMarks has them."""
    items = "".join(_item(index, question, document, links) for index, question in enumerate(document.questions))
    return f'<ol class="fields">{items}</ol>' if items else '<p class="keys">没有问题。</p>'


def _item(index: int, question: AnsweredQuestion, document: AnsweredDocument, links: Links) -> str:
    candidates = question.prediction.candidates
    shown = [_candidate(one, document.text, links.get((index, rank))) for rank, one in enumerate(candidates)]
    best = shown[0] + _clause(candidates[0], document.text) if candidates else ""
    if question.prediction.answer is None:
        score = f'<span class="sure">有答案的得分 {question.prediction.score:.2f}</span>'
        body = f'<p class="value"><b>{NO_ANSWER}</b> {score}</p>'
        best = body + (f'<p class="value written">最可能的候选：</p>{best}' if best else "")
    return f'<li class="field {_class(question)}">{_head(index, question)}{best}{_gold(question)}{_more(shown)}</li>'


def _class(question: AnsweredQuestion) -> str:
    plain = "missing" if question.prediction.answer is None else "found"
    return ("doubt" if question.doubt else plain) + (" wrong" if question.is_right is False else "")


def _head(index: int, question: AnsweredQuestion) -> str:
    status = "没有答案" if question.prediction.answer is None else "已回答"
    doubt = f"存疑：{DOUBTS[question.doubt]}" if question.doubt else status
    number = f'<mark class="c{index % NUM_COLOURS} sample">{index + 1}</mark>'
    text = escape_visibly(question.question)
    return f'<p class="name">{number}<span class="asked">{text}</span><span class="status">{doubt}</span></p>'


def _candidate(found: FoundAnswer, text: str, anchor: str | None) -> str:
    """Its text, its probability and a link to its place."""
    said = _shortened(found.text) if found.kind == "span" else _WORDS[found.text]
    place = place_of(found, text)
    link = "" if place is None else f"，{_link(place, anchor)}"
    sure = f'<span class="sure">概率 {found.probability:.2f}{link}</span>'
    return f'<p class="value"><b>{escape_visibly(said)}</b> {sure}</p>'


def _link(place: AnswerPlace, anchor: str | None) -> str:
    told = f'title="第 {place.start:,}–{place.end:,} 字"'
    return f'<a href="#{anchor}" {told}>{place.told}</a>' if anchor else f"<span {told}>{place.told}</span>"


def _clause(found: FoundAnswer, text: str) -> str:
    """The clause around, the answer in it told apart; nothing where the answer is all of it."""
    place = place_of(found, text)
    if place is None or place.clause == (place.start, place.end):
        return ""
    before, after = text[place.clause[0] : place.start], text[place.end : place.clause[1]]
    answer = escape_visibly(_shortened(text[place.start : place.end]))
    return f'<p class="clause">{escape_visibly(before)}<b>{answer}</b>{escape_visibly(after)}</p>'


def _gold(question: AnsweredQuestion) -> str:
    if question.gold is None:
        return ""
    verdict = '<b class="right">✓ 正确</b>' if question.is_right else '<b class="bad">✗ 不正确</b>'
    texts = " / ".join(escape_visibly(_WORDS.get(one, _shortened(one))) for one in dict.fromkeys(question.gold))
    return f'<p class="gold">{verdict} 标准答案：{texts}</p>'


def _more(shown: list[str]) -> str:
    """The candidates behind the best one."""
    rest = "".join(f"<li>{one}</li>" for one in shown[1:])
    if not rest:
        return ""
    summary = f"<summary>其他候选 {len(shown) - 1}</summary>"
    return f'<details class="more">{summary}<ol class="best" start="2">{rest}</ol></details>'


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
