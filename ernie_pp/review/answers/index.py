"""The first page of answered documents: all of them, those with most to look at first."""

from __future__ import annotations

from collections.abc import Sequence

from ernie_pp.report.values import escape_text, escape_visibly
from ernie_pp.review.answers.answered import AnsweredDocument, Counts
from ernie_pp.review.answers.page import tell_counts
from ernie_pp.review.index import IndexRow
from ernie_pp.review.page import build_style, read_template

_HEADS = ("文档", "需核对", "问题", "已回答", "没有答案", "存疑", "答对")


def answers_row(number: int, document: AnsweredDocument, *, address: str) -> IndexRow:
    """The line of the `number`th document, whose page is at `address`."""
    counts = Counts.of(document)
    right = f"{counts.num_right:,} / {counts.num_known:,}" if counts.num_known else "–"
    numbers = (counts.num_questions, counts.num_answered, counts.num_none, counts.num_in_doubt)
    name = f'<td><a href="{escape_text(address)}">{escape_visibly(document.id)}</a></td>'
    cells = [f"{document.num_to_look_at:,}" if document.num_to_look_at else "", *(f"{one:,}" for one in numbers), right]
    row = "".join(f'<td class="number">{cell}</td>' for cell in cells)
    return IndexRow(number, document.num_to_look_at, f"<tr>{name}{row}</tr>")


def build_answers_index(rows: Sequence[IndexRow], counts: Counts, *, num_documents: int) -> str:
    """The index page of `num_documents` documents with `counts` in all, of which `rows` are shown."""
    ordered = sorted(rows, key=lambda row: (-row.num_to_look_at, row.number))
    heads = "".join(
        f'<th scope="col"{" class=number" if index else ""}>{name}</th>' for index, name in enumerate(_HEADS)
    )
    body = "".join(row.html for row in ordered)
    table = f'<div class="box"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    left = num_documents - len(rows)
    note = f'<p class="keys">另有 {left:,} 份未列出，见 answers.csv 和 documents 文件夹。</p>' if left else ""
    return read_template("index.html").substitute(
        title="文档问答",
        style=build_style(),
        head=f"<h1>文档问答</h1><p>{num_documents:,} 份文档，需要核对的在前。{tell_counts(counts)}。</p>",
        sections=f"<section><h2>文档</h2>{table}{note}</section>",
    )
