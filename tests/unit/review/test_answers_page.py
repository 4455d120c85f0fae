"""Pages, index, JSON and sheet of answered questions: every answer at its place, nothing in them is obeyed."""

import csv
import json
import re
from html.parser import HTMLParser

import pytest

from ernie_pp.errors import RunError
from ernie_pp.review.answers.answered import AnsweredDocument, AnsweredQuestion, Counts
from ernie_pp.review.answers.index import answers_row, build_answers_index
from ernie_pp.review.answers.output import AnswersOutput, check_answers_output
from ernie_pp.review.answers.page import build_answers_page
from ernie_pp.review.output import check_output
from ernie_pp.tasks.docqa.prediction import FoundAnswer, Prediction

TEXT = "甲方：青禾公司\n乙方：北麓公司\n\f第二条 总价为100万元，由乙方开具发票。\n"
EVIL = "<script>alert(1)</script>\"' onload=x &amp; </style><img src=//e.example>"


class Reader(HTMLParser):
    """The contract of a page, the text of each mark's first piece, and every tag with its attributes."""

    def __init__(self, page, *, whole=False):
        super().__init__(convert_charrefs=True)
        self.tags, self.anchors, self.text, self._open = [], {}, "", []
        self.feed(page if whole else page[page.index('<div class="text"') :])
        self.links = re.findall(r'href="#(m\d+)"', page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "mark":
            self._open.append(dict(attrs).get("id"))
            self.anchors[self._open[-1]] = ""

    def handle_endtag(self, tag):
        if tag == "mark":
            self._open.pop()

    def handle_data(self, data):
        self.text += data
        for anchor in self._open:
            self.anchors[anchor] += data


def span(part, probability, text=TEXT):
    start = text.index(part)
    return FoundAnswer("span", part, probability, start, start + len(part))


def ask(*candidates, score=0.9, kind=None, gold=None, question="甲方是谁？", text=TEXT, name="q"):
    kind = kind or (candidates[0].kind if candidates else "none")
    return AnsweredQuestion(name, question, Prediction(kind, score, tuple(candidates), text), gold)


def page_of(*questions, text=TEXT):
    return build_answers_page(AnsweredDocument("合同一", text, questions))


def test_links_of_answers_and_candidates_lead_to_their_places():
    reader = Reader(page_of(ask(span("青禾公司", 0.8), span("北麓公司", 0.1)), ask(span("100万元", 0.7))))
    assert [reader.anchors[link] for link in reader.links] == ["青禾公司", "北麓公司", "100万元"]
    labels = [values["data-label"] for tag, values in reader.tags if tag == "mark"]
    assert labels == ["1", "1.2", "2"]


def test_a_candidate_over_a_better_one_leads_to_that_and_is_no_mark():
    reader = Reader(page_of(ask(span("青禾公司", 0.8), span("方：青禾", 0.1), span("禾公司", 0.05))))
    assert reader.links == ["m1"] * 3 and list(reader.anchors) == ["m1"]


def test_answers_of_two_questions_at_one_place_are_both_marked():
    reader = Reader(page_of(ask(span("青禾公司", 0.8)), ask(span("青禾公司", 0.8))))
    assert [reader.anchors[link] for link in reader.links] == ["青禾公司"] * 2 and len(set(reader.links)) == 2


def test_a_mark_that_another_cuts_shows_its_label_once():
    reader = Reader(page_of(ask(span("青禾公司", 0.8)), ask(span("甲方：青禾", 0.8))))
    shown = [values["data-label"] for tag, values in reader.tags if tag == "mark" and "part" not in values["class"]]
    assert sorted(shown) == ["1", "2"]


def test_the_text_is_whole_and_a_form_feed_shows_the_number_of_its_page():
    reader = Reader(page_of(ask(span("100万元", 0.8))))
    assert TEXT.replace("\f", "第 2 页") in reader.text
    assert "第 2 页第 3 段" in page_of(ask(span("100万元", 0.8)))


def test_an_answer_is_shown_in_its_clause():
    shown = page_of(
        ask(span("乙方", 0.8, text="总价为100万元，由乙方开具乙方发票。"), text="x"),
        text="总价为100万元，由乙方开具乙方发票。",
    )
    assert '<p class="clause">总价为100万元，由<b>乙方</b>开具乙方发票。</p>' in shown


def test_no_answer_is_told_with_the_best_candidate_beside():
    page = page_of(ask(span("100万元", 0.1), score=0.3, kind="none"))
    assert "文中没有答案" in page and "存疑：可能有答案" in page and "最可能的候选" in page
    assert Reader(page).links == ["m1"] and 'data-label="1.1"' in page
    assert "没有标出的答案" in page_of(ask(score=0.0))


def test_yes_and_no_have_words_and_no_place():
    page = page_of(ask(FoundAnswer("no", "NO", 0.8), gold=("NO",)))
    assert "<b>否</b>" in page and "标准答案：否" in page and Reader(page).links == []


@pytest.mark.parametrize(
    ("question", "doubt"),
    [
        (ask(span("青禾公司", 0.8)), ""),
        (ask(span("青禾公司", 0.4), score=0.45), "low score"),
        (ask(span("青禾公司", 0.4), span("北麓公司", 0.35)), "another answer is as likely"),
        (ask(span("青禾公司", 0.4), span("青禾", 0.39)), ""),
        (ask(span("青禾公司", 0.4), kind="none", score=0.19), ""),
        (ask(span("青禾公司", 0.4), kind="none", score=0.2), "there may be an answer"),
    ],
)
def test_answers_are_in_doubt_where_they_may_be_others(question, doubt):
    assert question.doubt == doubt


@pytest.mark.parametrize(
    ("gold", "kind", "right"),
    [
        (None, "span", None),
        (("北麓公司", "青禾公司。"), "span", True),
        (("北麓公司",), "span", False),
        (("",), "span", False),
        (("",), "none", True),
        (("青禾公司",), "none", False),
    ],
)
def test_true_answers_tell_right_from_wrong(gold, kind, right):
    question = ask(span("青禾公司", 0.8), kind=kind, gold=gold)
    assert question.is_right is right
    page = page_of(question)
    assert ("✓ 正确" in page, "✗ 不正确" in page) == (right is True, right is False)


def test_foreign_text_stays_text_and_pages_ask_the_network_for_nothing():
    question = ask(span(EVIL, 0.8, text=EVIL), gold=(EVIL, "x"), question=EVIL, text=EVIL, name=EVIL)
    document = AnsweredDocument(EVIL, EVIL, (question,))
    index = build_answers_index([answers_row(1, document, address=EVIL)], Counts.of(document), num_documents=1)
    for page in (build_answers_page(document, back=EVIL), index):
        assert EVIL not in page and page.count("<script") <= 1 and "default-src 'none'" in page
        tags = Reader(page, whole=True).tags
        assert not [tag for tag, values in tags if tag == "img" or any(name.startswith("on") for name in values)]
        assert "url(" not in page and "@import" not in page


def write(folder, *documents):
    folder.mkdir()
    with AnswersOutput(folder) as output:
        for document in documents:
            output.add(document)
        output.finish()
    return output


def test_the_folder_holds_every_answer_with_its_place(tmp_path):
    evil = ask(span("100万元", 0.7), question="=1+1", gold=("100万元",), name="b")
    output = write(tmp_path / "out", AnsweredDocument("一", TEXT, (ask(span("青禾公司", 0.8)), evil)))
    (document,) = json.loads((tmp_path / "out/answers.json").read_text(encoding="utf-8"))
    answer = document["questions"][1]["answer"]
    assert TEXT[answer["start"] : answer["end"]] == answer["text"] == "100万元"
    assert (answer["page"], answer["paragraph"]) == (2, 3)
    assert answer["clause"] == "第二条 总价为100万元，由乙方开具发票。"
    lines = list(csv.DictReader((tmp_path / "out/answers.csv").open(encoding="utf-8-sig")))
    assert [(one["文档"], one["答案"], one["段"]) for one in lines] == [("一", "青禾公司", "1"), ("一", "100万元", "3")]
    assert lines[1]["问题"] == "'=1+1" and lines[1]["正确"] == "yes"
    assert output.counts == Counts(2, 2, 0, 1, 1)


def test_the_index_lists_what_needs_most_looks_first_and_links_to_pages_that_are_there(tmp_path):
    calm = AnsweredDocument("静", TEXT, (ask(span("青禾公司", 0.8)),))
    wrong = AnsweredDocument("错", TEXT, (ask(span("青禾公司", 0.8), gold=("",)),))
    write(tmp_path / "out", calm, wrong)
    index = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert index.index(">错<") < index.index(">静<") and "2 个问题：2 个已回答" in index
    pages = re.findall(r'href="(documents/[^"]+)"', index)
    assert len(pages) == 2 and all((tmp_path / "out" / page).is_file() for page in pages)


def test_halves_of_characters_hinder_no_file(tmp_path):
    text = "甲\ud800乙"
    question = ask(span(text, 0.9, text=text), question=text, gold=(text,), text=text)
    write(tmp_path / "out", AnsweredDocument(text, text, (question,)))
    assert json.loads((tmp_path / "out/answers.json").read_text(encoding="utf-8"))[0]["id"] == "甲?乙"


def test_only_a_folder_of_answers_is_written_over(tmp_path):
    check_answers_output(tmp_path / "new")
    write(tmp_path / "out", AnsweredDocument("一", TEXT, ()))
    check_answers_output(tmp_path / "out")
    with pytest.raises(RunError, match="other files"):
        check_output(tmp_path / "out")  # a review of fields does not take it for its own
    (tmp_path / "out/thesis.txt").write_text("x", encoding="utf-8")
    with pytest.raises(RunError, match="other files"):
        check_answers_output(tmp_path / "out")
