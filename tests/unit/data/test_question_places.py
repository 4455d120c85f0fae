"""Where an answer stands in a document."""

import time

import pytest

from ernie_pp.data.questions.places import Located, fold, locate


@pytest.mark.parametrize(
    ("text", "answer", "stated", "start", "end", "how"),
    [
        ("甲乙甲乙", "甲乙", 2, 2, 4, "stated"),
        ("甲乙丙丁甲乙", "甲乙", 1, 0, 2, "exact"),
        ("甲乙丙丁甲乙", "甲乙", 3, 4, 6, "exact"),
        ("甲乙丙", "乙丙", 900, 1, 3, "exact"),
        ("共１２ 吨（净）重", "12吨(净)", 0, 1, 7, "alike"),
        ("在Hawkswell 剧院", "hawkswell剧院", None, 1, 13, "alike"),
        ("他说：“好，”走了", "好走了", 0, 4, 9, "alike"),
        ("約2,000人", "2000人", None, 1, 7, "alike"),
        ("高３．５米", "3.5米", None, 1, 5, "alike"),
        ("😀😀一、二", "一二", 0, 2, 5, "alike"),
    ],
)
def test_answers_are_located(text, answer, stated, start, end, how):
    found = locate(text, answer, stated)
    assert found is not None
    assert (found.start, found.end, found.how) == (start, end, how)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("甲乙", "丙"),
        ("甲乙", ""),
        ("甲，乙", "。"),
        ("共35人", "3.5"),
        ("1030", "10:30"),
        ("涨50", "50%"),
        ("5㎡", "2"),
    ],
)
def test_what_is_not_there_has_no_place(text, answer):
    assert locate(text, answer, 0) is None


def test_places_are_counted_where_no_start_is_stated():
    assert locate("甲乙甲乙甲", "甲", None) == Located(0, 1, "exact", 3)
    assert locate("甲 乙，甲·乙", "甲乙", None) == Located(0, 3, "alike", 2)
    assert locate("甲乙甲乙甲", "甲", 3) == Located(2, 3, "exact", 1)


def test_the_nearest_alike_place_is_taken():
    assert locate("甲 乙丙丙丙丙甲、乙", "甲乙", 6) == Located(7, 10, "alike")


def test_every_folded_character_knows_where_it_is_from():
    folded = fold("Ａ ㎡。b")
    assert (folded.text, list(folded.places)) == ("am2b", [0, 2, 2, 4])


def test_many_answers_of_a_long_document_are_located_quickly():
    text = "".join(chr(0x4E00 + (index * 7919 + index // 97) % 5000) for index in range(100_000))
    start = time.monotonic()
    for first in range(0, 90_000, 90):
        answer = text[first : first + 9] + "！"
        found = locate(text, answer, first + 3)
        assert found is not None and text[found.start : found.end] == answer[:-1]
    assert time.monotonic() - start < 3
