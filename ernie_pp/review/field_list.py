"""The fields of a document as the page shows them, missing and doubtful ones first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ernie_pp.data.entities.document import Mention
from ernie_pp.report.values import escape_visibly
from ernie_pp.review.fields import Field, FieldValue
from ernie_pp.review.reviewed import first_to_look_at

# A reviewer reads these; the keys are what JSON says.
STATUS_WORDS = {"found": "已找到", "doubt": "存疑", "missing": "未找到"}
_REASONS = {
    "low confidence": "置信度偏低",
    "another value is as likely": "另一个值同样可能",
    "no amount can be read": "金额无法换算",
    "no date can be read": "日期无法换算",
    "not found": "",
    "": "",
}
# More places than a reviewer clicks through.
MAX_PLACES = 12


def list_fields(fields: Sequence[Field], anchors: Mapping[Mention, str]) -> str:
    """All fields, each with its values and links to every place they stand at."""
    items = "".join(_item(field, anchors) for field in first_to_look_at(fields))
    return f'<ol class="fields">{items}</ol>'


def status_class(field: Field) -> str:
    """The style of a field's status."""
    return f"{field.status} required" if field.is_required else field.status


def show_value(value: FieldValue, field: Field) -> str:
    """The value as a reviewer reads it, escaped: a text as the contract has it, an amount or date normalised."""
    if field.kind == "text":
        return escape_visibly(value.text)
    if field.kind == "date":
        return escape_visibly(value.value.replace("/", " 至 "))
    currency, _, figures = value.value.rpartition(" ")
    whole, _, cents = figures.partition(".")
    return escape_visibly(f"{currency} {int(whole):,}.{cents}" if currency else f"{int(whole):,}.{cents} 元")


def _item(field: Field, anchors: Mapping[Mention, str]) -> str:
    reason = _REASONS[field.reason]
    status = STATUS_WORDS[field.status] + (f"：{reason}" if reason else "")
    if field.status == "missing" and not field.is_required:
        status += "（非必填）"
    values = "".join(_value(value, field, anchors) for value in field.values)
    unread = _unread(field, anchors)
    others = "".join(_value(value, field, anchors) for value in field.others)
    more = f'<details class="more"><summary>其他候选 {len(field.others)}</summary>{others}</details>' if others else ""
    return (
        f'<li class="field {status_class(field)}"><p class="name"><span>{escape_visibly(field.name)}</span>'
        f'<span class="status">{status}</span></p>{values}{unread}{more}</li>'
    )


def _value(value: FieldValue, field: Field, anchors: Mapping[Mention, str]) -> str:
    written = f' <span class="written">原文：{escape_visibly(value.text)}</span>' if field.kind != "text" else ""
    sure = f'<span class="sure">置信度 {value.confidence:.2f}，{len(value.mentions)} 处</span>'
    return f'<p class="value"><b>{show_value(value, field)}</b>{written} {sure} {_places(value.mentions, anchors)}</p>'


def _unread(field: Field, anchors: Mapping[Mention, str]) -> str:
    if not field.unread:
        return ""
    return f'<p class="value"><span class="written">无法换算的提及</span> {_places(field.unread, anchors)}</p>'


def _places(mentions: Sequence[Mention], anchors: Mapping[Mention, str]) -> str:
    links = "".join(
        f'<a href="#{anchors[one]}" title="第 {one.start}–{one.end} 字">{number}</a>'
        for number, one in enumerate(mentions[:MAX_PLACES], start=1)
    )
    return f'<span class="places">→{links}{"…" if len(mentions) > MAX_PLACES else ""}</span>'
