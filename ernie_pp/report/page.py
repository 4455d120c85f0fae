"""The report page: its sections in reading order, in one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from string import Template

from ernie_pp.durable import write_text
from ernie_pp.report.charts import draw_curve, draw_histogram
from ernie_pp.report.content import Content
from ernie_pp.report.mistakes import draw_mistakes
from ernie_pp.report.tables import draw_confusion, draw_table
from ernie_pp.report.timeline import draw_plan
from ernie_pp.report.values import escape_text, escape_visibly, list_facts

_FOLDER = Path(__file__).parent


def write_report(path: str | Path, content: Content) -> None:
    """Write the page; an old one is replaced at once. Raises RunError where the disk refuses."""
    write_text(Path(path), build_page(content))


def build_page(content: Content) -> str:
    """The page as text that any encoding of Unicode takes."""
    sections = list(_sections(content))
    return Template(_read("page.html")).substitute(
        title=escape_text(f"{content.headline} · {content.title}"),
        style=_read("style.css"),
        links="".join(f'<a href="#{key}">{name}</a>' for key, name, _ in sections),
        sections="".join(f'<section id="{key}"><h2>{name}</h2>{body}</section>' for key, name, body in sections),
        head=_head(content),
    )


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _head(content: Content) -> str:
    notes = "".join(f"<li>{escape_visibly(note)}</li>" for note in content.notes)
    return (
        f'<h1>{escape_visibly(content.title)}</h1><p class="headline">{escape_visibly(content.headline)}</p>'
        f'<p class="interval">{escape_visibly(content.headline_note)}</p>'
        + (f'<ul class="notes">{notes}</ul>' if notes else "")
        + list_facts(content.facts)
    )


def _sections(content: Content) -> Iterator[tuple[str, str, str]]:
    """Key, name and body of each section the run has something for."""
    if content.curves:
        yield "curves", "Curves", f'<div class="figures">{"".join(map(draw_curve, content.curves))}</div>'
    if content.tables:
        yield "results", "Results", f'<div class="tables">{"".join(map(draw_table, content.tables))}</div>'
    if content.confusion is not None and content.confusion.labels:
        yield "confusion", "Confusion", draw_confusion(content.confusion)
    if content.histograms:
        yield "lengths", "Lengths", f'<div class="figures">{"".join(map(draw_histogram, content.histograms))}</div>'
    if content.plan is not None:
        yield "plan", "Plan", draw_plan(content.plan)
    if content.mistakes is not None:
        yield "mistakes", "Most confident mistakes", draw_mistakes(content.mistakes)
    if content.settings:
        settings = f"<summary>As resolved for this run</summary><pre>{escape_visibly(content.settings)}</pre>"
        yield "settings", "Settings", f"<details>{settings}</details>"
