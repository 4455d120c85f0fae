"""Answers against their documents: places, kinds, and what is told of them."""

import pytest

from ernie_pp.choices import OnError
from ernie_pp.data.faults import Faults
from ernie_pp.data.questions.reading import Contradictions, question_findings, read_questions
from ernie_pp.data.questions.settling import settle
from ernie_pp.data.rows import Place, Row
from ernie_pp.errors import DataError

TEXT = "甲方为张三，乙方为李四。张三付款。"


def at(text, start):
    return {"text": text, "answer_start": start}


def check(*asked, contradictions: Contradictions = "answers", on_error: OnError = "stop", text=TEXT):
    """(questions, counts of findings, faults) of questions to one document, each given by its fields."""
    qas = [{"question": "谁？", "id": f"q{number}", **fields} for number, fields in enumerate(asked)]
    rows = [Row(Place("a.json", 1), {"context": text, "qas": qas})]
    faults, findings = Faults(on_error=on_error), question_findings()
    questions = read_questions(rows, contradictions=contradictions, faults=faults, findings=findings)
    faults.check()
    return questions, findings.counts, faults.listed


def places(question):
    return [(answer.start, answer.end) for answer in question.answers]


@pytest.mark.parametrize(
    ("answer", "place", "found"),
    [
        (at("张三", 12), (12, 14), {}),
        (at("张三", 3), (3, 5), {}),
        (at("张三", 9), (12, 14), {"moved": 1}),
        (at("张三", 99), (12, 14), {"moved": 1}),
        (at("李四", -1), (9, 11), {"missing": 1}),
        (at("李四", None), (9, 11), {"missing": 1}),
        ("李四", (9, 11), {"missing": 1}),
        (at("张三", -1), (3, 5), {"missing": 1, "ambiguous": 1}),
        (at("李四，张三", 9), (9, 14), {"moved_alike": 1}),
        ("李四 张三", (9, 14), {"missing_alike": 1}),
        (at(" 李四", 9), (9, 11), {"blank_edge": 1}),
        (at("李四\n", 9), (9, 11), {"blank_edge": 1}),
    ],
)
def test_answers_stand_where_the_document_has_them(answer, place, found):
    # Others that are right keep the file from looking as if it counted from 1.
    (question, _), counts, _ = check({"answers": [answer]}, {"answers": [at("甲方", 0)]})
    assert (question.kind, places(question), counts) == ("span", [place], found)


def test_a_start_may_be_that_of_the_blank_or_of_what_is_behind_it():
    (blank, behind), counts, _ = check(
        {"answers": [at(" 李四 ", 2)]}, {"answers": [at(" 李四 ", 3)]}, text="乙方 李四 付款"
    )
    assert places(blank) == places(behind) == [(3, 5)]
    assert counts == {"blank_edge": 2}
    assert blank.answers[0].text == " 李四 "


def test_a_file_that_counts_from_one_is_read_so():
    text = "甲甲乙丙丁戊己庚辛壬癸子丑"
    asked = [{"answers": [at(one, place + 1)]} for place, one in enumerate(text)]
    questions, counts, _ = check(*asked, text=text)
    # At its own start, counted from 0, the first 甲 would be the second one.
    assert [places(one) for one in questions] == [[(place, place + 1)] for place in range(len(text))]
    assert counts == {"from_one": len(text)}


def test_some_shifted_starts_do_not_make_a_file_count_from_one():
    right = [{"answers": [at("张三", 12)]}] * 2
    (question, *_), counts, _ = check({"answers": [at("李四", 10)]}, *right)
    assert places(question) == [(9, 11)]
    assert counts["moved"] == 1 and "from_one" not in counts


@pytest.mark.parametrize("bad", [39764.0, None, [], {"start": 3}, True])
def test_an_answer_that_is_no_text_is_a_fault_with_its_id(bad):
    with pytest.raises(DataError) as caught:
        check({"answers": [at("张三", 3), {"text": bad, "answer_start": 3}]})
    assert f'answer of q0: found "{bad!r}", expected text' in str(caught.value)
    (question,), _, (fault,) = check({"answers": [at("张三", 3), {"text": bad, "answer_start": 3}]}, on_error="skip")
    assert places(question) == [(3, 5)] and fault.column == "answer of q0"


@pytest.mark.parametrize("start", ["3", 3.0, True, []])
def test_a_start_that_is_no_whole_number_is_a_fault(start):
    with pytest.raises(DataError, match="answer_start of q0"):
        check({"answers": [at("张三", start)]})


def test_fakes_are_faults_and_their_question_is_left_out():
    fake = {"answers": [at("FAKE_1", -1), at("FAKE_2", -1)]}
    with pytest.raises(DataError, match=r"answer of q0: found \"FAKE_1\"[\s\S]*answer of q0: found \"FAKE_2\""):
        check(fake)
    questions, counts, faults = check(fake, {"answers": [at("张三", 3)]}, on_error="skip")
    assert ([one.id for one in questions], counts, len(faults)) == (["q1"], {}, 2)


def test_a_question_with_a_fake_and_no_answer_is_not_one_without_an_answer():
    questions, _, faults = check({"answers": [at("FAKE", -1), at("", -1)]}, on_error="skip")
    assert (questions, len(faults)) == ([], 1)


def test_an_answer_that_is_not_there_is_kept_beside_one_that_is():
    (question,), counts, _ = check({"answers": [at("王五", -1), at("张三", 3)]})
    assert places(question) == [(None, None), (3, 5)]
    assert question.gold_texts == ("王五", "张三")
    assert counts == {"not_in_document": 1}


def test_yes_and_no_are_kinds_unless_the_start_says_that_the_document_has_them():
    asked = [{"answers": [at("YES", -1)]}, {"answers": ["NO"]}, {"answers": [at("YES", 2)]}]
    questions, _, _ = check(*asked, text="他说YES。")
    assert [one.kind for one in questions] == ["yes", "no", "span"]


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["YES", "YES", "NO"], "yes"),
        (["NO", "张三", "NO"], "no"),
        (["张三", "YES", "李四"], "span"),
        (["YES", "张三"], "span"),
        (["NO", "YES"], "yes"),
    ],
)
def test_the_most_frequent_of_yes_no_and_span_counts(texts, kind):
    (question,), counts, _ = check({"answers": texts})
    assert (question.kind, counts["mixed_kinds"]) == (kind, 1)
    assert bool(question.answers) == (kind == "span")


def test_a_word_that_the_document_lacks_does_not_make_a_yes_a_span():
    (question,), counts, _ = check({"answers": ["YES", "是的"]})
    assert (question.kind, question.answers, counts) == ("yes", (), {"not_in_document": 1})


def test_annotators_who_disagree_on_whether_there_is_an_answer_are_counted():
    (question,), counts, _ = check({"answers": [at("张三", 3), at("", -1), at("", -1)]})
    assert (question.kind, places(question), counts) == ("span", [(3, 5)], {"mixed": 1})


@pytest.mark.parametrize(
    ("flag", "texts", "kinds"),
    [
        (True, ["张三", "张三", ""], {"answers": "span", "flag": "none", "majority": "span"}),
        ("true", ["张三", "", ""], {"answers": "span", "flag": "none", "majority": "none"}),
        (True, ["YES", ""], {"answers": "yes", "flag": "none", "majority": "yes"}),
        (False, ["", ""], {"answers": "none", "flag": "none", "majority": "none"}),
        ("false", [], {"answers": "none", "flag": "none", "majority": "none"}),
    ],
)
def test_contradictions_are_counted_and_settled_by_the_rule(flag, texts, kinds):
    asked = {"answers": [at(text, 3 if text == "张三" else -1) for text in texts], "is_impossible": flag}
    for rule, kind in kinds.items():
        (question,), counts, _ = check(asked, contradictions=rule)
        assert (question.kind, counts["contradiction"]) == (kind, 1)
    with pytest.raises(DataError, match=r"is_impossible of q0[\s\S]*docqa.contradictions"):
        check(asked, contradictions="error")


@pytest.mark.parametrize("rule", ["answers", "flag", "majority", "error"])
def test_where_flag_and_answers_agree_no_rule_matters(rule):
    asked = [
        {"answers": [at("张三", 3), at("", -1), at("", -1)], "is_impossible": False},
        {"answers": [], "is_impossible": "true"},
        {"answers": [at("", -1)]},
    ]
    questions, counts, _ = check(*asked, contradictions=rule)
    assert [one.kind for one in questions] == ["span", "none", "none"]
    assert "contradiction" not in counts


def test_settling_takes_ties_for_an_answer():
    assert settle({"none": 2, "yes": 1, "no": 1}, True, "majority") == "yes"
    assert settle({"none": 2, "yes": 1}, True, "majority") == "none"


def test_the_same_id_twice_is_told_and_both_are_kept():
    questions, counts, _ = check({"id": "x", "answers": []}, {"id": "x", "answers": []})
    assert (len(questions), counts) == (2, {"same_id": 1})


def test_findings_name_file_id_and_value():
    rows = [Row(Place("a.json", 7), {"context": TEXT, "question": "谁？", "id": "Q1", "answers": [at("张三", 10)]})]
    rows += [Row(Place("a.json", 8), {"context": TEXT, "question": "谁？", "answers": [at("甲方", 0)]})]
    findings = question_findings()
    read_questions(rows, contradictions="answers", faults=Faults(), findings=findings)
    (line,) = findings.lines()
    assert line.startswith("a.json: answers that are not at their start") and "line 7 Q1 张三 from 10 to 12" in line
