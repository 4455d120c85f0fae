"""Terms in texts."""

import random
import re
import time

from ernie_pp.text.terms import TermMatcher


def test_the_longest_term_at_the_leftmost_place_is_found():
    matcher = TermMatcher({"北京": 1, "北京大学": 2, "大学生": 3})
    assert matcher.find("在北京大学生活") == [(1, 5, 2)]
    assert matcher.find_all("在北京大学生活") == [(1, 5, 2), (1, 3, 1), (3, 6, 3)]


def test_random_terms_are_found_as_a_regular_expression_finds_them():
    rng = random.Random(4)
    terms = {"".join(rng.choice("甲乙丙😀") for _ in range(rng.randint(1, 5))) for _ in range(60)}
    expression = re.compile("|".join(sorted(map(re.escape, terms), key=len, reverse=True)))
    text = "".join(rng.choice("甲乙丙丁😀") for _ in range(5000))
    expected = [(match.start(), match.end(), match.group()) for match in expression.finditer(text)]
    assert TermMatcher({term: term for term in terms}).find(text) == expected


def test_no_terms_and_empty_ones_find_nothing():
    assert TermMatcher({}).find("甲") == [] and TermMatcher({"": 1}).find("甲") == []


def test_every_occurrence_is_found_as_by_looking_everywhere():
    rng = random.Random(8)
    terms = {"".join(rng.choice("甲乙𠮷") for _ in range(rng.randint(1, 4))): number for number in range(25)}
    text = "".join(rng.choice("甲乙丙𠮷") for _ in range(300))
    expected = [
        (start, start + length, terms[text[start : start + length]])
        for start in range(len(text))
        for length in range(4, 0, -1)
        if text[start : start + length] in terms and start + length <= len(text)
    ]
    assert TermMatcher(terms).find_all(text) == expected


def test_terms_match_exact_characters_only():
    matcher = TermMatcher({"ＡＢ": 1, "e\u0301": 2})
    assert matcher.find("AB ab é") == [] and matcher.find("ＡＢe\u0301") == [(0, 2, 1), (2, 4, 2)]


def test_a_hundred_thousand_terms_are_found_in_a_million_characters_within_seconds():
    rng = random.Random(9)
    characters = [chr(0x4E00 + number) for number in range(500)]
    terms = {"".join(rng.choices(characters, k=rng.randint(2, 12))): True for _ in range(100_000)}
    text = "".join(rng.choices(characters, k=1_000_000))
    start = time.process_time()
    assert len(TermMatcher(terms).find(text)) > 10_000
    assert time.process_time() - start < 15
