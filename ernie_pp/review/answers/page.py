"""The page of one answered document: its questions beside its text, in one file that needs nothing else."""

from __future__ import annotations

import re
from itertools import count

from ernie_pp.report.values import escape_text, escape_visibly
from ernie_pp.review.answers.answered import AnsweredDocument, Counts
from ernie_pp.review.answers.marks import NUM_KINDS, CandidateMarks, mark_candidates
from ernie_pp.review.answers.question_list import list_questions
from ernie_pp.review.marked import NUM_COLOURS, mark_text
from ernie_pp.review.page import build_style, read_template

# How a form feed is shown that is no more than a character nobody sees.
_FORM_FEED = re.compile(re.escape(escape_visibly("\f")))


def build_answers_page(document: AnsweredDocument, *, back: str | None = None) -> str:
    """The page as text; `back` is the address of the index it belongs to."""
    marks = mark_candidates(document)
    return read_template("page.html").substitute(
        title=escape_text(f"{document.id} · 文档问答"),
        style=build_style(NUM_KINDS),
        head=_head(document, back),
        kind="answers",
        list_name="问题",
        text_name="正文",
        fields=list_questions(document, marks.links),
        legend=_legend(marks),
        text=_with_pages(mark_text(document.text, marks.mentions, marks.kinds)),
    )


def tell_counts(counts: Counts) -> str:
    """12 个问题：9 个已回答，3 个文中没有答案；2 个存疑."""
    told = f"{counts.num_questions:,} 个问题：{counts.num_answered:,} 个已回答，{counts.num_none:,} 个文中没有答案"
    told += f"；{counts.num_in_doubt:,} 个存疑"
    return told + (f"；{counts.num_known:,} 个有标准答案，答对 {counts.num_right:,} 个" if counts.num_known else "")


def _head(document: AnsweredDocument, back: str | None) -> str:
    link = f'<p class="back"><a href="{escape_text(back)}">← 全部文档</a></p>' if back else ""
    told = f"{tell_counts(Counts.of(document))}。正文 {len(document.text):,} 字。"
    return f"{link}<h1>{escape_visibly(document.id)}</h1><p>{told}</p>"


def _legend(marks: CandidateMarks) -> str:
    if not marks.mentions:
        return '<p class="keys">没有标出的答案。</p>'
    # The boxes work once the script has run; without it they stay checked.
    names = (("答案", 0, "1"), ("其他候选", NUM_COLOURS, "1.2"))
    items = "".join(
        f'<li><label><input type="checkbox" checked disabled value="{_kinds_from(first)}"> '
        f'<mark class="c0 sample" data-label="{label}">{name}</mark></label></li>'
        for name, first, label in names
    )
    return f'<ul class="legend" aria-label="图例">{items}<li class="keys">上标是问题的编号</li></ul>'


def _kinds_from(first: int) -> str:
    return " ".join(map(str, range(first, first + NUM_COLOURS)))


def _with_pages(marked: str) -> str:
    """The marked text with the numbers of its pages where it has form feeds."""
    pages = count(2)
    return _FORM_FEED.sub(lambda _: f'<span class="page">第 {next(pages):,} 页</span>', marked)
