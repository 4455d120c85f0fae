"""The wrongly answered rows as a list of cards; long texts are folded."""

from __future__ import annotations

from collections.abc import Sequence

from ernie_pp.report.content import Mistake
from ernie_pp.report.values import escape_visibly, show_percent

_FOLDED_FROM = 240
_NUM_SHOWN = 160


def draw_mistakes(mistakes: Sequence[Mistake]) -> str:
    """All mistakes in the order given, with a filter that works where scripts do."""
    if not mistakes:
        return '<p class="nothing">no mistakes</p>'
    return f'{_FILTER}<ol class="mistakes">{"".join(map(_card, mistakes))}</ol>'


def _card(mistake: Mistake) -> str:
    return (
        f'<li class="mistake"><p class="answer"><span class="pair">{_label(mistake.true, "right")} '
        f'<span class="arrow">given as</span> {_label(mistake.given, "wrong")}</span> '
        f'<b class="sure">{show_percent(mistake.probability)}</b> '
        f'<span class="place"><bdi>{escape_visibly(mistake.place)}</bdi></span></p>{_text(mistake.text)}</li>'
    )


def _label(label: str, kind: str) -> str:
    if not label:
        return f'<span class="label {kind}"><i>no label</i></span>'
    return f'<span class="label {kind}" lang="zh-Hans"><bdi>{escape_visibly(label)}</bdi></span>'


def _text(text: str) -> str:
    if len(text) <= _FOLDED_FROM:
        return f'<div class="text" lang="zh-Hans" dir="auto">{escape_visibly(text)}</div>'
    start = f'<span lang="zh-Hans"><bdi>{escape_visibly(text[:_NUM_SHOWN])}</bdi>…</span>'
    return (
        f'<details class="text"><summary>{start} <span class="more">{len(text):,} characters</span></summary>'
        f'<div class="whole" lang="zh-Hans" dir="auto">{escape_visibly(text)}</div></details>'
    )


_FILTER = (
    '<p class="filter" hidden><label>Only <select id="pairs"><option value="">all</option></select></label> '
    '<label>with <input id="words" type="search" placeholder="text"></label> <output id="shown"></output></p>'
)
