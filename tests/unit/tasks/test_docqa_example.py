"""Questions as rows to predict give them, what stands beside a prediction, and questions that a run cannot learn."""

import gc

import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.questions.question import Answer, Document, Question
from ernie_pp.data.rows import Place, Row
from ernie_pp.tasks.docqa.example import Columns, fields_of, keep_known_kinds, kept_fields, read_examples
from ernie_pp.tasks.docqa.settings import ALL_KINDS, PLAIN_KINDS

TEXT, OTHER = "甲方为张三。乙方为李四。", "丙方为王五。"
ARTICLE = {
    "title": "合同",
    "paragraphs": [
        {
            "id": "d1",
            "context": TEXT,
            "qas": [
                {"id": "q1", "question": "甲方是谁", "answers": [{"text": "张三", "answer_start": 3}]},
                {"id": "q2", "question": "乙方是谁", "answers": [{"text": "nobody", "answer_start": "?"}]},
            ],
        }
    ],
}


def _read(*rows, faults=None):
    """(fields, example) of rows that come one by one, as `predict` reads them."""
    faults, columns, found = faults or Faults(), Columns(), []
    for number, fields in enumerate(rows, start=1):
        row = Row(Place("q.jsonl", number), fields)
        found += [(fields_of(row, one), one) for one in read_examples([row], columns, faults)]
    return found


def test_a_row_gives_all_questions_to_its_documents():
    found = _read(ARTICLE)
    assert [(one.text, one.text_pair, one.question.id) for _, one in found] == [
        ("甲方是谁", TEXT, "q1"),
        ("乙方是谁", TEXT, "q2"),
    ]
    assert found[0][1].question.document is found[1][1].question.document


def test_answers_are_not_looked_at_and_stand_beside_the_prediction_as_true_ones():
    fields = [kept_fields(fields) for fields, _ in _read(ARTICLE)]
    assert [(one["id"], one["document"], one["question"]) for one in fields] == [
        ("q1", "d1", "甲方是谁"),
        ("q2", "d1", "乙方是谁"),
    ]
    assert fields[1]["true_answers"] == [{"text": "nobody", "answer_start": "?"}]
    assert "answers" not in fields[0] and "context" not in fields[0]


def test_fields_of_their_own_stay_but_for_those_that_name_the_question():
    ((fields, _),) = _read({"context": TEXT, "question": "甲方是谁", "id": 7, "document": "x", "source": "法院"})
    assert fields == {"source": "法院", "id": "7", "document": "q.jsonl-1", "question": "甲方是谁"}


def test_rows_without_ids_are_numbered_over_the_whole_file():
    rows = [(TEXT, "甲方是谁"), (OTHER, "丙方是谁"), (TEXT, "乙方是谁"), (OTHER, "丁方是谁")]
    found = [fields for fields, _ in _read(*({"context": text, "question": question} for text, question in rows))]
    assert [fields["document"] for fields in found] == ["q.jsonl-1", "q.jsonl-2", "q.jsonl-1", "q.jsonl-2"]
    assert [fields["id"] for fields in found] == ["q.jsonl-1-1", "q.jsonl-2-1", "q.jsonl-1-2", "q.jsonl-2-2"]


def test_documents_are_named_alike_after_their_questions_are_gone():
    columns, names = Columns(), []
    for number, text in enumerate([TEXT, OTHER, TEXT], start=1):
        row = Row(Place("q.jsonl", number), {"context": text, "question": "谁"})
        names += [one.question.document.id for one in read_examples([row], columns, Faults())]
        gc.collect()
    assert names == ["q.jsonl-1", "q.jsonl-2", "q.jsonl-1"]


@pytest.mark.parametrize(
    "fields, told",
    [
        ({"context": TEXT, "question": " "}, "a text that is not empty"),
        ({"context": TEXT, "question": "\u200b"}, "a text that is not empty"),
        ({"context": "", "question": "甲方是谁"}, "a text that is not empty"),
        ({"context": "\u200b \n", "question": "甲方是谁"}, "a text that is not empty"),
        ({"question": "甲方是谁"}, '"context" or "file"'),
        ({"text": TEXT}, '"question" with "context"'),
    ],
)
def test_what_is_no_question_is_a_fault_of_its_row_and_the_others_stay(fields, told):
    faults = Faults(on_error="skip")
    found = _read(
        {"context": TEXT, "question": "甲方是谁"}, fields, {"context": TEXT, "question": "乙方是谁"}, faults=faults
    )
    assert [one.text for _, one in found] == ["甲方是谁", "乙方是谁"]
    assert [fault.place.line for fault in faults.listed] == [2] and told in faults.listed[0].expected


def _question(number, kind):
    answers = (Answer("张三", 3, 5),) if kind == "span" else ()
    return Question(Place("q.json", number), f"q{number}", "谁", Document("d", TEXT), kind, answers)


def test_questions_of_the_kinds_a_run_has_are_kept_in_their_order():
    questions = [_question(number, kind) for number, kind in enumerate(["span", "yes", "none", "no", None], start=1)]
    faults = Faults(on_error="skip")
    assert list(keep_known_kinds(questions, ALL_KINDS, faults)) == questions[:4]
    assert [(fault.place.line, fault.column) for fault in faults.listed] == [(5, "answers of q5")]
    faults = Faults(on_error="skip")
    assert list(keep_known_kinds(questions, PLAIN_KINDS, faults)) == [questions[0], questions[2]]
    assert [(fault.place.line, fault.value) for fault in faults.listed] == [(2, "YES"), (4, "NO"), (5, "nothing")]
