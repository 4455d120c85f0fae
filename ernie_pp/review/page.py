"""The page of one reviewed document: its fields beside its text, in one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template

from ernie_pp.data.entities.document import Mention
from ernie_pp.report.values import escape_text, escape_visibly
from ernie_pp.review.field_list import list_fields
from ernie_pp.review.marked import NUM_COLOURS, anchors, colour_of, mark_text, number_labels
from ernie_pp.review.reviewed import ReviewedDocument

_FOLDER = Path(__file__).parent


def build_page(document: ReviewedDocument, *, back: str | None = None) -> str:
    """The page as text; `back` is the address of the index it belongs to."""
    # Mentions of no field are marked too: a reviewer sees what the model saw.
    kinds = number_labels(document.mentions)
    return read_template("page.html").substitute(
        title=escape_text(f"{document.id} · 合同审阅"),
        style=build_style(len(kinds)),
        head=_head(document, back),
        kind="",
        list_name="字段",
        text_name="合同正文",
        fields=list_fields(document.fields, anchors(document.mentions)),
        legend=_legend(document.mentions, kinds),
        text=mark_text(document.text, document.mentions, kinds),
    )


@cache
def read_template(name: str) -> Template:
    """A template of this folder."""
    return Template((_FOLDER / name).read_text(encoding="utf-8"))


@cache
def build_style(num_kinds: int = 0) -> str:
    """The style of a page whose mentions have so many labels."""
    colours = [f".c{number} {{ --tone: var(--k{number}); }}" for number in range(NUM_COLOURS)]
    switched_off = [
        f'.no-{kind} mark[data-kind="{kind}"] {{ background: none; border: 0; }} '
        f'.no-{kind} mark[data-kind="{kind}"]::after {{ content: none; }}'
        for kind in range(num_kinds)
    ]
    return read_template("style.css").substitute(kinds="\n".join([*colours, *switched_off]))


def _head(document: ReviewedDocument, back: str | None) -> str:
    link = f'<p class="back"><a href="{escape_text(back)}">← 全部合同</a></p>' if back else ""
    num = document.num_to_look_at
    told = f"{num} 个字段需要人工核对" if num else "没有需要人工核对的字段"
    counts = f"{len(document.text):,} 字，{len(document.mentions)} 处标注"
    return f"{link}<h1>{escape_visibly(document.id)}</h1><p>{told}；{counts}</p>"


def _legend(mentions: tuple[Mention, ...], kinds: Mapping[str, int]) -> str:
    counts = dict.fromkeys(kinds, 0)
    for mention in mentions:
        counts[mention.label] += 1
    # The boxes work once the script has run; without it they stay checked.
    items = "".join(
        f'<li><label><input type="checkbox" checked disabled value="{kind}"> '
        f'<mark class="c{colour_of(kind)} sample">{escape_visibly(label)}</mark> {counts[label]}</label></li>'
        for label, kind in kinds.items()
    )
    return f'<ul class="legend" aria-label="图例">{items}</ul>' if items else '<p class="keys">没有标注。</p>'
