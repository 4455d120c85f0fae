"""Exact match and F1 against a second implementation, written from the definition, and by hand."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktSentenceTokenizer

from ernie_pp.tasks.docqa.scores import em_score, f1_score

PUNCTUATION = {
    "cmrc2018": list("-:_*^/\\~`+=") + list("，。：？！“”；’《》·、「」（）－～『』") + ["……"],
    "dureader_robust": list(":_`(),|") + list("，。：？！“”；’《》·、「」（）－～『』") + ["……"],
}
# Pieces that the rules treat in a way of their own, and some that they do not.
PIECES = [
    *"合同金额甲方乙2024年，。：？！“”…·、「」（）－～—‘’【】％",
    *"-:_*^/\\~`+=.,?!'\"()[]|&%$#@",
    *[" ", "\u3000", "\n", "\t", "\xa0"],
    *["AbC", "cannot", "it's", "U.S.", "3.5", "1,000", "１２３", "Ａｂ", "元/年", "……", "...", "a. b", "Mr. X", "é"],
    *["㐀", "鿿", "豈", "𠀀", "あ", "한", "\u9fa5", "\u9fa6", "İ"],
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=8)
# Both from the same few pieces, so that long runs are common to them.
ALIKE = st.lists(st.sampled_from(["甲", "乙", "，", "ab", " ", "1"]), max_size=14).map("".join)
RULES = sorted(PUNCTUATION)


def kept_characters(text, rules):
    text = text.lower()
    if rules == "cmrc2018":
        text = text.strip()
    return [char for char in text if char not in PUNCTUATION[rules]]


def cut(text, rules):
    """The segments, a character at a time."""
    found, run = [], ""
    for char in [*kept_characters(text, rules), None]:
        if char is not None and not stands_alone(char, rules):
            run += char
            continue
        if run:
            found += words_of(run) if rules == "cmrc2018" else [run]
        run = ""
        if char is not None:
            found.append(char)
    return found


def stands_alone(char, rules):
    if rules == "cmrc2018":
        return re.match("[一-龥]", char) is not None
    ranges = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F)]
    ranges += [(0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]
    return char == "=" or any(low <= ord(char) <= high for low, high in ranges)


def words_of(run):
    return [word for part in PunktSentenceTokenizer().tokenize(run) for word in NLTKWordTokenizer().tokenize(part)]


def plain_f1(golds, answer, rules):
    """By the table of common runs that end at each pair of segments."""
    return max(_plain_f1(cut(gold, rules), cut(answer, rules)) for gold in golds)


def _plain_f1(gold, answer):
    table = [[0] * (len(answer) + 1) for _ in range(len(gold) + 1)]
    longest = 0
    for row, one in enumerate(gold):
        for column, other in enumerate(answer):
            if one == other:
                table[row + 1][column + 1] = table[row][column] + 1
                longest = max(longest, table[row + 1][column + 1])
    if longest == 0:
        return 0.0
    precision, recall = longest / len(answer), longest / len(gold)
    return 2 * precision * recall / (precision + recall)


def plain_em(golds, answer, rules):
    return float(any(kept_characters(gold, rules) == kept_characters(answer, rules) for gold in golds))


@pytest.mark.parametrize("rules", RULES)
@settings(deadline=None, max_examples=400)
@given(st.lists(TEXTS, min_size=1, max_size=3), TEXTS)
def test_scores_of_any_texts_are_those_of_the_definition(rules, golds, answer):
    assert em_score(golds, answer, rules) == plain_em(golds, answer, rules)
    assert f1_score(golds, answer, rules) == plain_f1(golds, answer, rules)


@pytest.mark.parametrize("rules", RULES)
@settings(deadline=None, max_examples=300)
@given(st.lists(ALIKE, min_size=1, max_size=3), ALIKE)
def test_scores_of_texts_that_are_much_alike_are_those_of_the_definition(rules, golds, answer):
    assert em_score(golds, answer, rules) == plain_em(golds, answer, rules)
    assert f1_score(golds, answer, rules) == plain_f1(golds, answer, rules)


CMRC_CASES = {
    "alike": (["人民币三百万元"], "人民币三百万元", 1, 1),
    "one character more": (["三百万元"], "三百万元整", 0, 8 / 9),
    "nothing in common": (["甲方"], "乙丙", 0, 0),
    "empty": (["甲方"], "", 0, 0),
    "the best of several": (["北京", "北京市海淀区", "海淀"], "北京市", 0, 4 / 5),
    "the longest run, not all that is common": (["甲乙丙丁"], "甲乙戊丙丁", 0, 4 / 9),
    "punctuation does not count": (["《合同法》，第十条。"], "合同法第十条", 1, 1),
    "capitals do not count": (["ABC公司"], "abc公司", 1, 1),
    "a Latin word is one segment": (["nexon公司"], "nexus公司", 0, 2 * (2 / 3) * (2 / 3) / (4 / 3)),
    "digits are one segment": (["2024年"], "2023年", 0, 1 / 2),
    "width counts": (["100元"], "１００元", 0, 1 / 2),
    "half-width comma counts": (["1,000元"], "1000元", 0, 1 / 2),
    "half-width stop is a word": (["ok."], "ok", 0, 2 / 3),
    "dash is punctuation and joins": (["A-1"], "a1", 1, 1),
    "a single … counts": (["等……"], "等", 0, 2 / 3),
    "blanks at the ends do not count": ([" 甲方\u3000"], "甲方\n", 1, 1),
    "blank inside counts to EM alone": (["甲 方"], "甲方", 0, 1),
    "blank behind punctuation counts to EM": (["。 甲方"], "甲方", 0, 1),
    "words are cut at blanks": (["game boy"], "game gear", 0, 1 / 2),
    "nothing but punctuation": (["。"], "！", 1, 0),
    "rare characters are one segment": (["㐀㐁"], "㐀", 0, 0),
    "contractions are cut": (["cannot"], "can", 0, 2 / 3),
}
DUREADER_CASES = {
    "alike": (["人民币三百万元"], "人民币三百万元", 1, 1),
    "half-width brackets do not count": (["(甲)"], "甲", 1, 1),
    "half-width comma does not count": (["1,000元"], "1000元", 1, 1),
    "a dash counts": (["A-1"], "a1", 0, 0),
    "blanks at the ends count to EM": (["甲方 "], "甲方", 0, 4 / 5),
    "a run with blanks is one segment": (["game boy"], "game gear", 0, 0),
    "= stands alone": (["a=b"], "a=c", 0, 2 / 3),
    "rare characters stand alone": (["㐀㐁"], "㐀", 0, 2 / 3),
    "empty": (["甲方"], "", 0, 0),
    "both empty": ([""], "", 1, 0),
}


@pytest.mark.parametrize("name", CMRC_CASES)
def test_cmrc_scores_by_hand(name):
    golds, answer, em, f1 = CMRC_CASES[name]
    assert em_score(golds, answer, "cmrc2018") == em
    assert f1_score(golds, answer, "cmrc2018") == pytest.approx(f1)


@pytest.mark.parametrize("name", DUREADER_CASES)
def test_dureader_scores_by_hand(name):
    golds, answer, em, f1 = DUREADER_CASES[name]
    assert em_score(golds, answer, "dureader_robust") == em
    assert f1_score(golds, answer, "dureader_robust") == pytest.approx(f1)


def test_long_answers_do_not_take_long():
    """A table of 400 x 400 for each of these pairs would take minutes."""
    gold, answer = "甲乙丙丁" * 100, "丁丙乙甲" * 99 + "甲乙丙丁"
    begin = time.perf_counter()
    for number in range(500):
        assert f1_score([gold], answer + str(number), "cmrc2018") < 0.1
    assert time.perf_counter() - begin < 5
