"""Terms in texts."""

import random
import re

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
