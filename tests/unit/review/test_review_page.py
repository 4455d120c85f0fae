"""The page of a document: its text is whole, its marks are the mentions, nothing in it is obeyed by a browser."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.config.ner import FieldConfig
from ernie_pp.data.entities.document import Mention
from ernie_pp.review.fields import fill_fields
from ernie_pp.review.index import IndexRow, build_index
from ernie_pp.review.marked import anchors, mark_text
from ernie_pp.review.page import build_page
from ernie_pp.review.reviewed import ReviewedDocument, first_to_look_at

CONFIGS = (
    FieldConfig(name="甲方", labels=("甲方",)),
    FieldConfig(name="金额", labels=("金额",), kind="amount"),
    FieldConfig(name="日期", labels=("日期",), kind="date", required=False),
)
EVIL = "<script>alert(1)</script>\"' onload=x &amp; javascript: </style><img src=//e.example>"


class Reader(HTMLParser):
    """The text of a page's contract, the text within each mark, and every tag with its attributes."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.text, self.of_mark, self.anchors, self.tags, self._open = "", {}, {}, [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "mark":
            title = dict(attrs).get("title")  # the legend's marks have none
            self._open.append(title)
            self.of_mark.setdefault(title, "")
            self.anchors |= {dict(attrs)["id"]: title} if "id" in dict(attrs) else {}

    def handle_endtag(self, tag):
        if tag == "mark":
            self._open.pop()

    def handle_data(self, data):
        self.text += data
        for title in self._open:
            self.of_mark[title] += data


def review(text, *mentions, name="合同一"):
    return ReviewedDocument(name, text, tuple(mentions), fill_fields(text, mentions, CONFIGS))


@st.composite
def marked_texts(draw):
    text = draw(st.text("甲乙丙<>&\"'\n 12", min_size=1, max_size=30))
    places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).filter(lambda pair: pair[0] < pair[1])
    spans = draw(st.lists(places, max_size=8, unique=True))
    return text, [Mention(start, end, draw(st.sampled_from("AB"))) for start, end in spans]


@given(marked_texts())
@settings(deadline=None)
def test_the_text_is_whole_and_each_mark_holds_its_mention(case):
    text, mentions = case
    # Each has a tooltip of its own, by which its later pieces are known.
    mentions = [Mention(one.start, one.end, one.label, 1.0, f"s{index}") for index, one in enumerate(mentions)]
    reader = Reader(mark_text(text, mentions, {"A": 0, "B": 1}))
    assert reader.text == text
    expected = {anchors(mentions)[one]: text[one.start : one.end] for one in mentions}
    assert {anchor: reader.of_mark[title] for anchor, title in reader.anchors.items()} == expected


def test_nested_mentions_are_nested_marks_with_their_labels():
    page = mark_text("甲乙丙", [Mention(0, 3, "A"), Mention(1, 2, "B")], {"A": 0, "B": 1})
    tags = [(tag, values.get("data-label")) for tag, values in Reader(page).tags]
    assert tags == [("mark", "A"), ("mark", "B")]
    assert page.endswith("乙</mark>丙</mark>")


def test_foreign_text_stays_text_wherever_it_stands():
    mention = Mention(0, len(EVIL), EVIL, 0.9, EVIL)
    config = FieldConfig(name=EVIL, labels=(EVIL,))
    document = ReviewedDocument(EVIL, EVIL, (mention,), fill_fields(EVIL, [mention], [config]))
    index = build_index([IndexRow.of(1, document, address=EVIL)], [EVIL], num_documents=1)
    for page in (build_page(document, back=EVIL), index):
        reader = Reader(page)
        assert not [tag for tag, _ in reader.tags if tag in ("img", "iframe", "object")]
        assert [name for _, values in reader.tags for name in values if name.startswith("on")] == []
        assert page.count("<script") <= 1 and EVIL not in page


def test_a_page_asks_the_network_for_nothing():
    page = build_page(review("甲方青禾公司", Mention(2, 6, "甲方")), back="../index.html")
    links = [values[name] for _, values in Reader(page).tags for name in ("href", "src") if name in values]
    assert [link for link in links if not link.startswith(("#", "../"))] == []
    assert "default-src 'none'" in page and "@import" not in page and "url(" not in page


def test_every_link_of_the_fields_leads_to_the_place_it_names():
    text = "甲方：青禾公司，青禾公司，总价100万元"
    mentions = [Mention(3, 7, "甲方", 0.9), Mention(8, 12, "甲方", 0.8), Mention(15, 21, "金额", 0.9)]
    page = build_page(review(text, *mentions))
    reader = Reader(page)
    links = [values["href"][1:] for tag, values in reader.tags if tag == "a"]
    mentions.sort()
    assert [anchors(mentions)[one] for one in mentions] == links
    assert [text[one.start : one.end] for one in mentions] == ["青禾公司", "青禾公司", "100万元"]
    assert [reader.of_mark[reader.anchors[link]] for link in links] == ["青禾公司", "青禾公司", "100万元"]
    assert "1,000,000.00 元" in page


def test_missing_fields_come_first_then_those_in_doubt():
    text = "青禾公司 100万元"
    document = review(text, Mention(0, 4, "甲方", 0.6))
    assert [field.name for field in first_to_look_at(document.fields)] == ["金额", "甲方", "日期"]
    page = build_page(document)
    assert page.index("<span>金额</span>") < page.index("<span>甲方</span>") < page.index("<span>日期</span>")
    assert "2 个字段需要人工核对" in page


def test_characters_nobody_sees_are_named():
    assert "\\u200b" in build_page(review("甲\u200b乙"))
    build_page(review("甲\ud800乙", Mention(0, 2, "甲方"))).encode("utf-8")


def test_a_document_without_mentions_has_a_page():
    assert "没有标注" in build_page(review("无"))


@pytest.mark.parametrize("num_shown", [1, 3])
def test_the_index_lists_what_needs_most_looks_first_and_says_what_it_leaves_out(num_shown):
    documents = [
        review("青禾公司", Mention(0, 4, "甲方", 0.9), name="少"),
        review("无", name="多"),
        review("无", name="又"),
    ]
    rows = [IndexRow.of(number, one, address=f"{number}.html") for number, one in enumerate(documents)][:num_shown]
    page = build_index(rows, ["甲方", "金额", "日期"], num_documents=3)
    if num_shown == 3:
        assert page.index(">多<") < page.index(">又<") < page.index(">少<")
    assert ("另有 2 份" in page) == (num_shown == 1)
