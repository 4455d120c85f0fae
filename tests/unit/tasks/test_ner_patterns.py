"""Which expressions of users are refused."""

import pytest
import regex

from ernie_pp.tasks.ner.patterns import MAX_CHARACTERS, compile_pattern, written_out

USUAL = [
    r"([0-9]+(?:,[0-9]{3})*(?:\.[0-9]{1,2})?)元",
    r"[0-9]{4}年[0-9]{1,2}月[0-9]{1,2}日",
    r"[1-9][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])[0-9]{5}[0-9Xx]",
    r"[0-9]{18}|[0-9]{15}|[0-9A-Z]{2}[0-9]{6}[0-9A-Z]{10}|[0-9]{16,19}",
    r"(?<=甲方[:：])\s*[^\n，。]{2,60}",
    r"甲方\(?x:(.+)",
    r"(?i)(?P<name>no)[.:](?P=name)",
    r"[^](]{2,2000}[[:alpha:](][)\]]",
]


@pytest.mark.parametrize("pattern", USUAL)
def test_usual_expressions_are_taken(pattern):
    assert compile_pattern(pattern).pattern == pattern


@pytest.mark.parametrize(
    "pattern, match",
    [
        ("(?:(?:a?){60000}){60000}", "18,000,180,000 parts with its counts written out"),
        ("(((a{1000}){1000}){1000})", "1,001,001,001 parts"),
        ("(?:" + "(?:ab|c)" * 200 + "){1000}", "parts with"),
        ("([)(a{9}]b){9999}c{20000}", "parts with"),
        ("[0-9]{99999999999999999999,}", "parts with"),
        ("(?R)|a", "recursion"),
        ("(a)(?1)", "recursion"),
        ("(?P<f>a)(?&f)", "recursion"),
        ("(?P<f>a)(?P>f)", "recursion"),
        ("(?x)(a # )\n{100}){1000}", "flag x"),
        ("(?V1)[a[b]]", "V1"),
        ("(?#()a", "comment"),
        ("a)", "no regular expression: a group ends"),
        ("(a", "no regular expression: a group has no end"),
        ("[a", "no regular expression: unterminated"),
        ("(" * 900 + "a" + ")" * 900, "no regular expression"),
        ("a?|b", "matches the empty text"),
        ("a" * (MAX_CHARACTERS + 1), "expected 1 to 2,000 characters"),
        ("", "expected 1 to"),
        (None, "expected 1 to"),
    ],
)
def test_what_is_none_or_could_take_all_of_memory_is_refused(pattern, match):
    with pytest.raises(ValueError, match=match):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    "pattern, size", [("abc", 3), ("a{3}b", 4), ("(?:ab{2,9}){3}", 18), (r"\({2}[(){2}]{3}", 5), ("a{0,9}b{x}", 5)]
)
def test_parts_are_counted_as_often_as_they_must_occur(pattern, size):
    regex.compile(pattern)
    assert written_out(pattern) == size
