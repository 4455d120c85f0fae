"""Questions of every layout, each with its document, and documents in files of their own."""

import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.questions.reading import question_findings, read_questions
from ernie_pp.data.rows import Place, Row
from ernie_pp.errors import DataError

TEXT = "甲方支付乙方一万元。"


def read(*rows, path="folder/a.json", faults=None, **options):
    options = {"contradictions": "answers", "findings": question_findings(), **options}
    placed = [Row(Place(path, number), fields) for number, fields in enumerate(rows, start=1)]
    faults = faults or Faults()
    questions = read_questions(placed, faults=faults, **options)
    faults.check()
    return questions


def refused(*rows, **options):
    with pytest.raises(DataError) as caught:
        read(*rows, **options)
    return str(caught.value)


def squad_question(**fields):
    return {"question": "谁付？", "id": "q", "answers": [{"text": "甲方", "answer_start": 0}], **fields}


@pytest.mark.parametrize(
    "row",
    [
        {"title": "t", "paragraphs": [{"context": TEXT, "qas": [squad_question()]}]},
        {"title": "t", "paragraphs": [{"context": TEXT, "qas": [squad_question(is_impossible=False)]}]},
        {"paragraphs": [{"context": TEXT, "casename": "t", "qas": [squad_question(is_impossible="false")]}]},
        {
            "paragraphs": [
                {"context": TEXT, "title": "t", "qas": [squad_question(answers=[{"id": "1", "text": "甲方"}])]}
            ]
        },
        {"context": TEXT, "title": "t", "qas": [squad_question()]},
        {
            "context_id": "c",
            "context_text": TEXT,
            "title": "t",
            "qas": [{"query_text": "谁付？", "query_id": "q", "answers": ["甲方"]}],
        },
        {"version": "1", "data": [{"title": "t", "paragraphs": [{"context": TEXT, "qas": [squad_question()]}]}]},
        {"context": TEXT, "title": "t", **squad_question()},
        {"context": TEXT, "title": "t", **squad_question(answers=[{"text": "甲方", "start": 0}])},
        {"context": TEXT, "title": "t", **squad_question(answers=["甲方"])},
        {"context": TEXT, "title": "t", **squad_question(answers="甲方")},
        {"context": TEXT, "title": "t", **squad_question(answers={"text": ["甲方"], "answer_start": [0]})},
        {"context": TEXT, "title": "t", **squad_question(answers={"text": "甲方", "start": -1})},
    ],
)
def test_every_layout_gives_the_same_question(row):
    (question,) = read(row)
    assert (question.id, question.text, question.kind) == ("q", "谁付？", "span")
    assert (question.document.text, question.document.title) == (TEXT, "t")
    assert [(one.text, one.start, one.end) for one in question.answers] == [("甲方", 0, 2)]


@pytest.mark.parametrize("answers", [None, [], "", [""], [{"text": "", "answer_start": -1}], {"text": []}])
def test_no_answer_is_written_in_many_ways(answers):
    (question,) = read({"context": TEXT, "question": "何时？", "answers": answers})
    assert (question.kind, question.answers, question.gold_texts) == ("none", (), ("",))


def test_a_question_without_answers_has_no_known_answer():
    (question,) = read({"context": TEXT, "question": "何时？"})
    assert (question.kind, question.answers) == (None, ())


def test_a_flag_alone_says_that_there_is_no_answer():
    rows = [{"context": TEXT, "question": "何时？", "is_impossible": flag} for flag in (True, "true", "False", False)]
    assert [one.kind for one in read(*rows)] == ["none", "none", None, None]


def test_questions_of_one_text_share_its_record():
    flat = [
        {"context": TEXT, "question": "谁？"},
        {"context": "又一份。", "question": "谁？"},
        {"context": TEXT, "question": "何？"},
    ]
    first, other, third = read(*flat)
    assert first.document is third.document and first.document is not other.document
    one, two = read({"context": TEXT, "qas": [squad_question(), squad_question(id="p")]})
    assert one.document is two.document


def test_ids_that_are_not_given_come_from_file_and_numbers():
    flat = [
        {"context": TEXT, "question": "谁？"},
        {"context": "又一份。", "question": "谁？"},
        {"context": TEXT, "question": "何？"},
    ]
    assert [one.id for one in read(*flat)] == ["a.json-1-1", "a.json-2-1", "a.json-1-2"]
    assert [one.document.id for one in read(*flat)] == ["a.json-1", "a.json-2", "a.json-1"]


def test_documents_have_ids_of_their_own():
    paragraphs = [{"context": TEXT, "qas": [squad_question()]}, {"context": "甲方。", "qas": [squad_question(id=5)]}]
    one, two = read({"caseid": "7", "paragraphs": paragraphs})
    assert (one.document.id, two.document.id, two.id) == ("7-1", "7-2", "5")
    rows = [{"context": text, "id": "same", "qas": [squad_question(id=text)]} for text in (TEXT, "甲方。")]
    assert [one.document.id for one in read(*rows)] == ["same", "same-2"]


def test_other_fields_stay_with_the_question():
    (flat,) = read({"context": TEXT, "source": "web", **squad_question(), "level": 2})
    assert flat.rest == {"source": "web", "level": 2}
    (nested,) = read({"context": TEXT, "qas": [squad_question(level=2)]})
    assert nested.rest == {"level": 2}


def test_rows_to_predict_keep_what_they_say_of_answers_unread():
    row = {"context": TEXT, "question": "谁？", "id": "q", "answers": 5, "is_impossible": "no", "level": 2}
    (question,) = read(row, needs_answers=False)
    assert (question.kind, question.answers) == (None, ())
    assert question.rest == {"answers": 5, "is_impossible": "no", "level": 2}


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ({"text": "甲"}, ['fields: found "text"', '"paragraphs", "qas"']),
        ({"question": "谁？"}, ['fields: found "question"', '"context" or "file"']),
        ({"context": " \n", "question": "谁？"}, ["context: found", "a text that is not empty"]),
        ({"context": 5, "question": "谁？"}, ['context: found "5"']),
        ({"id": "c", "context": "", "qas": [squad_question()]}, ["context of c: found"]),
        ({"context": TEXT, "id": "c", "qas": {}}, ['qas of c: found "{}"', "a list of JSON objects"]),
        ({"paragraphs": [5]}, ['paragraphs, number 1: found "5"']),
        ({"context": TEXT, "qas": [{"id": "q", "answers": []}]}, ["fields of q", 'a field "question"']),
        ({"context": TEXT, "qas": [squad_question(question="　")]}, ['question of q: found "　"', "not empty"]),
        ({"context": TEXT, "qas": [squad_question(question=None)]}, ['question of q: found "None"']),
        ({"context": TEXT, **squad_question(answers=5)}, ['answers of q: found "5"', "a list of answers"]),
        ({"context": TEXT, **squad_question(answers={"text": ["甲"], "start": [0, 1]})}, ["as many starts as texts"]),
        ({"context": TEXT, **squad_question(is_impossible="no")}, ['is_impossible of q: found "no"', "true or false"]),
        ({"context": TEXT, **squad_question(is_impossible=1)}, ['is_impossible of q: found "1"']),
    ],
)
def test_what_cannot_be_asked_is_told(row, parts):
    message = refused(row)
    assert [part for part in ["a.json line 1", *parts] if part not in message] == []


def test_one_bad_paragraph_hides_none_of_the_others():
    paragraphs = [{"context": "", "qas": []}, {"context": TEXT, "qas": [5, squad_question()]}]
    faults = Faults(on_error="skip")
    assert [one.id for one in read({"paragraphs": paragraphs}, faults=faults)] == ["q"]
    assert [fault.column for fault in faults.listed] == ["context", "qas, number 1"]


def test_a_document_in_a_file_keeps_every_character(tmp_path):
    text = "# 合同\r\n\r\n甲方：\u3000张三\u2028  \n"
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.md").write_bytes(text.encode())
    rows = [{"file": "texts/a.md", "question": ask, "answers": ["张三"]} for ask in ("甲方是谁？", "谁？")]
    one, two = read(*rows, path=str(tmp_path / "q.jsonl"))
    assert one.document.text == text and one.document is two.document
    assert (one.document.id, one.rest) == ("texts/a.md", {})
    assert text[one.answers[0].start : one.answers[0].end] == "张三"


def test_a_context_is_read_and_no_file_beside_it():
    (question,) = read({"context": TEXT, "file": "x.pdf", "question": "谁？"})
    assert (question.document.text, question.rest) == (TEXT, {"file": "x.pdf"})


@pytest.mark.parametrize("name", ["../out.txt", "link.txt", "linked/out.txt", "/etc/hostname", "", 5, "a\0b"])
def test_a_document_outside_the_folder_is_not_read(tmp_path, name):
    folder = tmp_path / "questions"
    folder.mkdir()
    (tmp_path / "out.txt").write_text("秘密")
    (folder / "link.txt").symlink_to(tmp_path / "out.txt")
    (folder / "linked").symlink_to(tmp_path)
    message = refused({"file": name, "question": "谁？"}, path=str(folder / "q.json"))
    assert "in the folder of the questions" in message and "秘密" not in message


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (None, "cannot be read"),
        ("甲".encode("gb18030"), "is not UTF-8"),
        (b"a\0b", "without NUL"),
        (b" \n", "not empty"),
        (b"a" * 33, "is larger than 32 bytes"),
    ],
)
def test_a_file_that_is_no_document_is_told(tmp_path, monkeypatch, content, part):
    monkeypatch.setattr("ernie_pp.data.questions.documents.MAX_FILE_BYTES", 32)
    if content is not None:
        (tmp_path / "a.txt").write_bytes(content)
    message = refused({"file": "a.txt", "question": "谁？"}, path=str(tmp_path / "q.json"))
    assert "q.json line 1" in message and part in message


@pytest.mark.parametrize(
    "fields", [{"paragraphs": [{"context": TEXT}]}, {"data": [{"paragraphs": [{"context": TEXT}]}]}]
)
def test_a_paragraph_without_its_questions_is_told(fields):
    assert 'qas of a.json-1: found "nothing", expected a list of JSON objects' in refused(fields)
