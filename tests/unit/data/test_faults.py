import json

import pytest

from ernie_pp.data.faults import MAX_EXCERPT, Faults, excerpt, nearest_advice, too_long
from ernie_pp.data.rows import Fault, Place
from ernie_pp.errors import DataError
from ernie_pp.text.truncation import TooLong


def fault(line: int, value: str = "好评", advice: str = "Correct the label.") -> Fault:
    return Fault(Place("train.jsonl", line), "label", value, "one of: negative, positive", advice)


def test_message_says_where_what_came_what_was_expected_and_what_to_do():
    faults = Faults()
    faults.add(fault(17))
    with pytest.raises(DataError) as caught:
        faults.check()
    assert str(caught.value) == (
        'train.jsonl line 17\n  label: found "好评", expected one of: negative, positive\n  Correct the label.'
    )


def test_all_faults_come_in_one_error_with_a_shared_advice_said_once():
    faults = Faults()
    for line in (3, 5, 9):
        faults.add(fault(line))
    with pytest.raises(DataError) as caught:
        faults.check()
    message = str(caught.value)
    assert [f"line {line}" in message for line in (3, 5, 9)] == [True] * 3
    assert message.count("Correct the label.") == 1
    assert "data.on_error: skip" in message


def test_reading_stops_at_the_limit_and_says_there_may_be_more():
    faults = Faults(limit=20)
    for line in range(1, 20):
        faults.add(fault(line))
    with pytest.raises(DataError, match=r"line 20[\s\S]*and more"):
        faults.add(fault(20))


def test_skipped_faults_are_counted_and_listed_as_json_lines(tmp_path):
    faults = Faults(on_error="skip", limit=2)
    for line in range(1, 31):
        faults.add(fault(line, value="坏\x00\ud800"))
    faults.check()
    faults.write(tmp_path / "skipped.jsonl")
    lines = (tmp_path / "skipped.jsonl").read_text(encoding="utf-8").splitlines()
    assert faults.count == len(lines) == 30
    assert json.loads(lines[4]) == {
        "file": "train.jsonl",
        "line": 5,
        "column": "label",
        "value": "坏\\x00\\ud800",
        "expected": "one of: negative, positive",
        "advice": "Correct the label.",
    }


def test_remembered_faults_are_bounded_and_the_rest_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("ernie_pp.data.faults.MAX_LISTED", 3)
    faults = Faults(on_error="skip")
    for line in range(1, 11):
        faults.add(fault(line))
    faults.write(tmp_path / "skipped.jsonl")
    assert json.loads((tmp_path / "skipped.jsonl").read_text().splitlines()[-1]) == {"not_listed": 7}


def test_a_fault_of_the_whole_file_stops_even_where_rows_are_skipped():
    with pytest.raises(DataError, match="line 1"):
        Faults(on_error="skip").refuse(fault(1))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("好\t评\n", "好\\x09评\\x0a"),
        ("\x1b[31m红", "\\x1b[31m红"),
        ("\ud800", "\\ud800"),
        ("a\u2028b\u202ec\ufeff", "a\\u2028b\\u202ec\\ufeff"),
        (None, "None"),
        (12, "12"),
    ],
)
def test_excerpts_are_one_printable_line(value, shown):
    assert excerpt(value) == shown


@pytest.mark.parametrize("text", ["长" * 61, "\x00" * 60, "短" * 59 + "\n", "长" * 10**6])
def test_excerpts_are_short_and_marked_as_cut(text):
    assert len(excerpt(text)) == MAX_EXCERPT
    assert excerpt(text).endswith("…")
    assert excerpt(excerpt(text)) == excerpt(text)


def test_the_most_similar_name_is_proposed():
    assert nearest_advice("lable", ["label", "text"]) == 'Did you mean "label"?'
    assert nearest_advice("好坪", ["好评", "差评"]) == 'Did you mean "好评"?'
    assert '"a", "b"' in nearest_advice("review", ["a", "b"])


def test_a_text_over_the_limit_is_told_with_its_column_and_both_lengths():
    fault = too_long(Place("a.tsv", 3), "标题 + 正文", TooLong(0, 33, 32))
    assert (fault.column, fault.value) == ("标题 + 正文", "33 tokens")
    assert fault.expected == "at most 32 tokens (text.max_length)" and "text.truncate" in fault.advice
