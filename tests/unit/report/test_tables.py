"""Tables, the confusion of few and many labels, and the list of mistakes."""

import math

import numpy as np
import pytest

from ernie_pp.report import Confusion, Mistake, Table
from ernie_pp.report.mistakes import draw_mistakes
from ernie_pp.report.tables import draw_confusion, draw_table
from ernie_pp.report.values import show_number, show_value


def _rows(page):
    return [[cell.text for cell in row.all("td")] for row in page.one("tbody").all("tr")]


def test_table_shows_fractions_in_percent_and_groups_thousands(parse):
    table = Table("t", ["label", "F1", "rows"], [["负面", 0.87145, 12345], ["正面", math.nan, None]], frozenset({"F1"}))
    assert _rows(parse(draw_table(table))) == [["负面", "87.1 %", "12,345"], ["正面", "NaN", "–"]]


@pytest.mark.parametrize(
    "value,shown",
    [(np.int64(1200), "1,200"), (np.float32(0.5), "0.5"), (True, "yes"), (math.inf, "∞"), (5e-5, "5e-5"), ("文", "文")],
)
def test_values_are_shown_for_people(value, shown):
    assert show_value(value) == shown


def test_numbers_keep_four_digits():
    assert [show_number(value) for value in (0, -0.5, 0.00123456, 1234567.8, 1.5e9)] == [
        "0", "-0.5", "0.001235", "1,234,568", "1.5e9",
    ]  # fmt: skip


@pytest.mark.parametrize("num_labels", [1, 2, 15])
def test_few_labels_give_the_whole_matrix(parse, num_labels):
    counts = [[10 * row + column for column in range(num_labels)] for row in range(num_labels)]
    page = parse(draw_confusion(Confusion([f"类{i}" for i in range(num_labels)], counts)))
    assert _rows(page) == [[str(count) for count in row] + [f"{sum(row):,}"] for row in counts]
    assert len(list(page.all("td", class_="right"))) + (counts[0][0] == 0) == num_labels


def test_colour_follows_the_share_of_the_true_label(parse):
    page = parse(draw_confusion(Confusion(["a", "b"], [[90, 10], [0, 0]])))
    right, wrong = page.one("td", class_="right"), page.one("td", class_="wrong")
    assert (right.attributes["title"], wrong.attributes["title"]) == ("90.0 %", "10.0 %")
    depths = [float(cell.attributes["style"].removeprefix("--depth:")) for cell in (right, wrong)]
    assert 0 < depths[1] < depths[0] <= 1


def test_many_labels_give_the_largest_confusions(parse):
    counts = np.eye(200, dtype=int) * 50
    counts[7, 150], counts[199, 0], counts[3, 4] = 30, 40, 1
    page = parse(draw_confusion(Confusion([f"类{i}" for i in range(200)], counts.tolist())))
    assert _rows(page) == [
        ["类199", "类0", "40", "44.4 %"], ["类7", "类150", "30", "37.5 %"], ["类3", "类4", "1", "2.0 %"],
    ]  # fmt: skip
    assert "200 labels; of 3 confused pairs the 3 largest" in page.text


def test_list_of_confusions_ends_after_fifty(parse):
    counts = [[row + column for column in range(20)] for row in range(20)]
    page = parse(draw_confusion(Confusion([str(i) for i in range(20)], counts)))
    assert len(_rows(page)) == 50
    assert _rows(page)[0][:3] == ["18", "19", "37"]


def test_all_mistakes_are_there_in_order(parse):
    mistakes = [Mistake(f"dev.tsv line {i + 2}", f"第{i}条", "正面", "负面", 0.99 - i / 100) for i in range(50)]
    cards = list(parse(draw_mistakes(mistakes)).all("li", class_="mistake"))
    assert [card.one("div", class_="text").text for card in cards] == [mistake.text for mistake in mistakes]
    assert cards[3].one(class_="place").text == "dev.tsv line 5"
    assert cards[3].one(class_="sure").text == "96.0 %"
    assert cards[3].one(class_="pair").text == "正面 given as 负面"


def test_long_text_is_folded_and_whole(parse):
    text = "很长的合同文本，\n" * 4_000
    fold = parse(draw_mistakes([Mistake("p", text, "a", "b", 0.5)])).one("details")
    assert fold.one(class_="whole").text == text
    assert f"{len(text):,} characters" in fold.one("summary").text
    assert len(fold.one("summary").text) < 250


def test_unseen_characters_are_named_and_emoji_kept(parse):
    text = "好\u200b评\x07\ufeff\u202e坏\ud800👨‍👩‍👧\t\n末"
    shown = parse(draw_mistakes([Mistake("p", text, "a", "b", 0.5)])).one("div", class_="text").text
    assert shown == "好\\u200b评\\x07\\ufeff\\u202e坏\\ud800👨‍👩‍👧\t\n末"


def test_empty_label_is_named(parse):
    card = parse(draw_mistakes([Mistake("p", "文", "甲, 乙", "", 0.5)]))
    assert card.one(class_="pair").text == "甲, 乙 given as no label"
