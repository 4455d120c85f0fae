"""A place of a text is told by its page, its paragraph and the clause around it."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ernie_pp.text.outline import MAX_CLAUSE, Outline

BREAKS = ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
TEXTS = st.text("甲乙12，,。；：、”） \u3000\n\r\x0c\x85\u2028", min_size=1, max_size=300)


def clause(text, part):
    start = text.index(part)
    first, last = Outline(text).clause_around(start, start + len(part))
    return text[first:last]


def test_pages_are_counted_by_form_feeds():
    outline = Outline("首页\x0c次页\x0c\x0c末页")
    assert [outline.page_of(place) for place in (0, 2, 3, 5, 6, 7, 8)] == [1, 1, 2, 2, 3, 4, 4]


def test_a_text_without_form_feeds_has_no_pages():
    assert Outline("一\n二").page_of(2) is None


@pytest.mark.parametrize("end_of_line", BREAKS, ids=ascii)
def test_every_line_break_of_unicode_ends_a_paragraph_and_a_clause(end_of_line):
    text = f"第一段{end_of_line}第二段"
    outline = Outline(text)
    assert [outline.paragraph_of(place) for place in (0, 2, text.index("第二"))] == [1, 1, 2]
    assert clause(text, "二段") == "第二段"


def test_blank_lines_are_no_paragraphs():
    text = " \n\n标题\n \t\u3000\n\n  正文"
    outline = Outline(text)
    assert [outline.paragraph_of(text.index(one)) for one in "标正"] == [1, 2]
    assert outline.paragraph_of(0) == 1  # a place before the first of them
    assert outline.paragraph_of(text.index("\t")) == 1
    assert Outline("").paragraph_of(0) == 1


@given(TEXTS)
def test_paragraphs_are_the_lines_that_are_not_blank(text):
    outline, number, place = Outline(text), 0, 0
    for line in text.splitlines(keepends=True):
        number += bool(line.strip())
        for offset, char in enumerate(line):
            if not char.isspace():
                assert outline.paragraph_of(place + offset) == number
        place += len(line)


def test_a_clause_is_the_sentence_with_its_mark_and_closing_quotes():
    text = "甲方付款。乙方称：“应于2024年5月1日前交货。”丙方无异议；丁方未到。"
    assert clause(text, "2024年5月1日") == "乙方称：“应于2024年5月1日前交货。”"
    assert clause(text, "丙方") == "丙方无异议；"
    assert clause(text, "付款。乙方") == text[: text.index("丙方")]


def test_a_long_sentence_gives_the_whole_clauses_around_the_span():
    text = "，".join(f"第{number}项乙方应当在收到通知后按约定办理有关手续" for number in range(20)) + "。"
    around = clause(text, "第9项")
    assert MAX_CLAUSE - 25 < len(around) <= MAX_CLAUSE
    assert around.startswith("第") and around.endswith("手续，") and "第9项" in around[30:-30]


@pytest.mark.parametrize("figure", ["1,234,567.00元", "１，２３４元", "10:30前", "１０：３０前"])
def test_figures_and_times_are_not_cut_at_their_commas_and_colons(figure):
    assert clause("甲" * 100 + f"，答案，计{figure}" + "乙" * 200 + "。", "答案") == "甲" * 100 + "，答案，"


def test_a_clause_without_any_mark_is_cut_evenly_around_the_span():
    text = "甲" * 500 + "答案" + "乙" * 500
    around = clause(text, "答案")
    assert len(around) == MAX_CLAUSE and around.index("答案") == (MAX_CLAUSE - 2) // 2
    assert clause("甲" * 10 + "答案" + "乙" * 500, "答案") == "甲" * 10 + "答案" + "乙" * (MAX_CLAUSE - 12)
    assert clause("甲" * 500 + "答案" + "乙" * 10, "答案") == "甲" * (MAX_CLAUSE - 12) + "答案" + "乙" * 10


@given(TEXTS, st.data())
def test_the_span_is_whole_in_a_clause_of_bounded_length_without_blanks_at_its_edges(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, last = Outline(text).clause_around(start, end)
    assert 0 <= first <= start < end <= last <= len(text)
    assert last - first <= max(MAX_CLAUSE, end - start)
    assert first == start or not text[first].isspace()
    assert last == end or not text[last - 1].isspace()


def test_looking_up_costs_no_more_in_a_long_text_of_one_sentence():
    outline = Outline("甲，" * 500_000)
    places = [random.Random(1).randrange(999_000) for _ in range(2_000)]
    began = time.process_time()
    for place in places:
        assert outline.clause_around(place, place + 2)[1] > place and outline.paragraph_of(place) == 1
    assert time.process_time() - began < 2
