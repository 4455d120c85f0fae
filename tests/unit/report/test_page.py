"""The whole page: everything is in it, nothing outside it is needed, no text can break out."""

import re
from dataclasses import replace

import pytest

from ernie_pp.errors import RunError
from ernie_pp.report import Confusion, Content, Curve, Histogram, Mistake, Table, write_report
from ernie_pp.report.page import build_page

HOSTILE = "<script>alert('好')</script><b onclick=\"x\">&amp;</b> $title ${style}"


def test_figures_facts_notes_and_settings_are_shown(content, parse):
    page = parse(build_page(content))
    assert page.one("p", class_="headline").text == "dev accuracy 87.3 %"
    assert "85.4 to 89.2 %" in page.one("p", class_="interval").text
    assert [fact.text for fact in page.one("dl").all("div")] == ["modelrandom weights", "rows9,600 train"]
    assert page.one("ul", class_="notes").text == "text.max_length 192 cuts 812 rows"
    assert page.one("pre").text == content.settings


def test_every_link_leads_to_a_section(content, parse):
    page = parse(build_page(content))
    links = [link.attributes["href"] for link in page.one("nav").all("a")]
    assert links == [f"#{section.attributes['id']}" for section in page.all("section")]
    assert len(links) == 6


def test_page_needs_nothing_from_outside(content, parse):
    page = build_page(content)
    assert not re.search(r"""\b(src|href|action|poster)\s*=\s*["']?(?!["']?#)""", page)
    assert not re.search(r"https?:|url\(|@import|<(link|img|iframe|object|base)\b", page)
    policy = parse(page).one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    assert policy.startswith("default-src 'none'")


def test_hostile_text_stays_text_everywhere(parse):
    content = Content(
        title=HOSTILE,
        headline=HOSTILE,
        headline_note=HOSTILE,
        facts=[(HOSTILE, HOSTILE)],
        notes=[HOSTILE],
        curves=[Curve(HOSTILE, {HOSTILE: [(1, 0.5)]})],
        histograms=[Histogram(HOSTILE, [0, 1], [3], HOSTILE)],
        confusion=Confusion([HOSTILE, "b"], [[1, 2], [3, 4]]),
        tables=[Table(HOSTILE, [HOSTILE], [[HOSTILE]], note=HOSTILE)],
        mistakes=[Mistake(HOSTILE, HOSTILE, HOSTILE, HOSTILE, 0.5)],
        settings=HOSTILE,
    )
    page = parse(build_page(content))
    assert len(list(page.all("script"))) == 1
    assert not list(page.one("main").all("b", onclick="x"))
    assert page.one("pre").text == HOSTILE
    assert page.one("div", class_="text").text == HOSTILE
    assert page.one("h1").text == HOSTILE
    assert [caption.text for caption in page.all("figcaption")] == [HOSTILE, HOSTILE]
    assert page.one("head").one("title").text == f"{HOSTILE} · {HOSTILE}"


def test_file_is_written_as_utf8_even_with_broken_text(content, tmp_path):
    path = tmp_path / "report.html"
    mistake = Mistake("dev.tsv line 2", "好\ud83d\x00\u202e坏😀", "a\udc00", "b", 0.9)
    write_report(path, replace(content, title="\ud800", mistakes=[mistake]))
    page = path.read_bytes().decode("utf-8")
    assert "\x00" not in page and "\u202e" not in page
    assert "😀" in page


def test_old_report_is_replaced(content, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    write_report(path, content)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [path]


def test_unwritable_place_is_named(content, tmp_path):
    with pytest.raises(RunError, match="no_such_folder"):
        write_report(tmp_path / "no_such_folder" / "report.html", content)


def test_least_content_makes_a_page(parse):
    page = parse(build_page(Content(title="t", headline="h", headline_note="", facts=[])))
    assert "no mistakes" in page.one("main").text
