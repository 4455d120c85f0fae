"""Public question files as people download them: every answer in its place, every oddity counted."""

from collections import Counter

import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.questions.reading import Contradictions, question_findings, read_questions
from ernie_pp.data.readers import ReadSettings, read_rows

SETS = [
    (
        "cmrc2018/squad-style-data__cmrc2018_trial.json",
        {"span": 1000},
        256,
        {"moved": 5, "blank_edge": 3},
        2,
    ),
    (
        "cmrc2018/data__cmrc2018_trial.json",
        {"span": 1000},
        256,
        {"missing": 1000, "ambiguous": 76, "blank_edge": 3},
        2,
    ),
    ("drcd/DRCD_dev.json", {"span": 3524}, 1000, {}, 0),
    ("drcd_long/dev.json", {"span": 3524}, 383, {}, 0),
    (
        "cail2019_mrc/dev_ground_truth.json",
        {"span": 4135, "yes": 457, "no": 219, "none": 1189},
        1000,
        {"contradiction": 231, "mixed": 184, "mixed_kinds": 68},
        0,
    ),
    ("dirty/squad_one_based_offsets.json", {"span": 66}, 15, {"from_one": 57, "moved": 9}, 0),
    ("dirty/squad_missing_and_shifted_starts.json", {"span": 63}, 15, {"missing_alike": 22, "not_in_document": 1}, 0),
    (
        "dirty/squad_impossible_flag_is_a_string.json",
        {"span": 37, "yes": 7, "no": 6, "none": 22},
        12,
        {"contradiction": 17, "mixed": 3},
        0,
    ),
    ("dirty/squad_fake_answers.json", {}, 0, {}, 108),
    (
        "dirty/cmrc_original_format_number_answers.json",
        {"span": 44},
        10,
        {"missing": 116, "missing_alike": 1, "ambiguous": 8, "blank_edge": 1},
        15,
    ),
]


def read(path, contradictions: Contradictions = "answers"):
    faults, findings = Faults(on_error="skip"), question_findings()
    rows = read_rows(path, settings=ReadSettings(kind="questions"), faults=faults)
    questions = read_questions(rows, contradictions=contradictions, faults=faults, findings=findings)
    return questions, findings, faults


@pytest.mark.parametrize(("name", "kinds", "num_documents", "found", "num_faults"), SETS, ids=[one[0] for one in SETS])
def test_public_sets_are_read_whole(shared_data, name, kinds, num_documents, found, num_faults):
    questions, findings, faults = read(shared_data / name)
    assert Counter(one.kind for one in questions) == kinds
    assert len({one.document.id for one in questions}) == num_documents
    assert (findings.counts, faults.count) == (found, num_faults)


@pytest.mark.parametrize(
    "name", ["drcd/DRCD_dev.json", "drcd_long/dev.json", "cail2019_mrc/dev_ground_truth.json"], ids=lambda name: name
)
def test_answers_of_clean_sets_are_the_text_of_their_places(shared_data, name):
    questions, _, _ = read(shared_data / name)
    answers = [
        (one.document.text[answer.start : answer.end], answer.text) for one in questions for answer in one.answers
    ]
    assert len(answers) > 7000
    assert [pair for pair in answers if pair[0] != pair[1]] == []


def test_one_rule_settles_what_flag_and_answers_of_cjrc_contradict(shared_data):
    path = shared_data / "cail2019_mrc/dev_ground_truth.json"
    num_none = {
        rule: sum(one.kind == "none" for one in read(path, rule)[0]) for rule in ("answers", "flag", "majority")
    }
    assert num_none == {"answers": 1189, "flag": 1420, "majority": 1222}


def test_empty_questions_of_the_trial_set_are_named(shared_data):
    _, _, faults = read(shared_data / "cmrc2018/squad-style-data__cmrc2018_trial.json")
    assert [fault.column for fault in faults.listed] == [
        "question of TRIAL_776_QUERY_4",
        "question of TRIAL_20_QUERY_0",
    ]


def test_answers_that_are_numbers_are_named_by_id_and_value(shared_data):
    questions, _, faults = read(shared_data / "dirty/cmrc_original_format_number_answers.json")
    assert (faults.listed[0].column, faults.listed[0].value) == ("answer of DEV_10_QUERY_2", "39764.0")
    assert "DEV_10_QUERY_2" in {one.id for one in questions}


def test_the_document_decides_which_of_two_wrong_starts_is_meant(shared_data):
    questions, findings, _ = read(shared_data / "dirty/squad_one_based_offsets.json")
    assert all(one.document.text[one.answers[0].start : one.answers[0].end] == one.answers[0].text for one in questions)
    assert any("DEV_4.0_QUERY_1 炸弹威胁 from 61 to 56" in line for line in findings.lines())
