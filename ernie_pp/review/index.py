"""The first page of a review: all documents, those with most to look at first, and the figures where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ernie_pp.report.values import escape_text, escape_visibly, show_percent
from ernie_pp.review.evaluate import RECALLS, ReviewFigures
from ernie_pp.review.field_list import STATUS_WORDS, show_value, status_class
from ernie_pp.review.page import build_style, read_template
from ernie_pp.review.reviewed import ReviewedDocument
from ernie_pp.review.wrong import ReviewError


@dataclass(frozen=True)
class IndexRow:
    """A document's line of the index: a small part of it, so that many are held at once."""

    number: int
    num_to_look_at: int
    html: str

    @classmethod
    def of(cls, number: int, document: ReviewedDocument, *, address: str) -> IndexRow:
        """The line of the `number`th document, whose page is at `address`."""
        cells = []
        for field in document.fields:
            values = "<br>".join(show_value(value, field) for value in field.values) or STATUS_WORDS[field.status]
            cells.append(f'<td class="{status_class(field)} {field.kind}">{values}</td>')
        name = f'<td><a href="{escape_text(address)}">{escape_visibly(document.id)}</a></td>'
        num = document.num_to_look_at
        return cls(number, num, f'<tr>{name}<td class="number">{num or ""}</td>{"".join(cells)}</tr>')


def build_index(
    rows: Sequence[IndexRow],
    names: Sequence[str],
    *,
    num_documents: int,
    figures: ReviewFigures | None = None,
    errors: Sequence[ReviewError] = (),
) -> str:
    """The index page of `num_documents` documents, of which `rows` are shown; `names` are those of the fields."""
    ordered = sorted(rows, key=lambda row: (-row.num_to_look_at, row.number))
    heads = "".join(f'<th scope="col">{escape_visibly(name)}</th>' for name in ("合同", "需核对", *names))
    body = "".join(row.html for row in ordered)
    table = f'<div class="box"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    left = num_documents - len(rows)
    note = f'<p class="keys">另有 {left:,} 份未列出，见 review.csv 和 documents 文件夹。</p>' if left else ""
    sections = _section("合同", table + note)
    if figures is not None:
        sections += _section("与标准答案比较", _figures(figures)) + _section("错误", _errors(errors))
    return read_template("index.html").substitute(
        title="合同审阅",
        style=build_style(),
        head=f"<h1>合同审阅</h1><p>{num_documents:,} 份合同，需要核对的在前</p>",
        sections=sections,
    )


def _section(name: str, body: str) -> str:
    return f"<section><h2>{name}</h2>{body}</section>"


def _figures(figures: ReviewFigures) -> str:
    heads = [
        "字段",
        "精确率",
        "召回率",
        "F1",
        *(f"召回 {100 * one:.0f} % 时的精确率" for one in RECALLS),
        "AUPR",
        "真值数",
    ]
    rows = [
        [name, *map(show_percent, (scores.precision, scores.recall, scores.f1))]
        + ["–" if value is None else show_percent(value) for value in curve.precision_at.values()]
        + [show_percent(curve.average_precision), str(scores.num_true)]
        for name, (scores, curve) in figures.fields.items()
    ]
    micro, (low, high) = figures.micro, figures.interval
    rows.append(
        ["合计", *map(show_percent, (micro.precision, micro.recall, micro.f1)), "", "", "", str(micro.num_true)]
    )
    told = (
        f"按文档计；合计 F1 的 95 % 区间 {show_percent(low)} – {show_percent(high)}，"
        f"各字段平均 F1 {show_percent(figures.macro_f1)}。"
    )
    return f"<p>{told}</p>{_table(heads, rows, num_texts=1)}"


def _errors(errors: Sequence[ReviewError]) -> str:
    if not errors:
        return "<p>没有错误。</p>"
    words = {"wrong": "值不对", "missing": "漏掉", "extra": "多出"}
    rows = []
    for error in errors:
        found, true = "；".join(error.found), "；".join(error.true)
        cells = [error.document, error.field, words[error.kind], found, true, error.around, error.around_true]
        rows.append(cells)
    return _table(["合同", "字段", "错误", "找到", "真值", "找到处原文", "真值处原文"], rows, num_texts=7)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, num_texts: int) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{'' if index < num_texts else ' class=number'}>{escape_visibly(cell)}</td>"
            for index, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f'<div class="box"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
