"""Documents given as files, and the questions asked of them."""

import dataclasses

import pytest

from ernie_pp.errors import ConfigError, DataError
from ernie_pp.jobs.asked_documents import read_document, rows_of_documents, settle_questions
from ernie_pp.jobs.predict_words import PredictOptions, check_bundle_words, check_words

STORED = {"review": {"fields": [], "questions": ["合同金额是多少？", "谁付款？"]}}


@pytest.fixture
def write(tmp_path):
    def write_file(name, content="甲方应当付款。"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write_file


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.markdown", "A.TXT"])
def test_the_characters_of_a_file_are_those_of_the_document(write, name):
    text = "# 合同\r\n\r\n甲方：张三\u3000\n\x0c第二页\t👍🏽\u2028末"
    assert read_document(write(name, text)) == text
    assert read_document(write(name, b"\xef\xbb\xbf" + text.encode("utf-8"))) == text


@pytest.mark.parametrize(
    "name, content, told",
    [
        ("a.pdf", "甲方", r'a\.pdf\n.*ends in "\.pdf", expected \.txt or \.md or \.markdown\n.*plain text in UTF-8'),
        ("a", "甲方", r'ends in ""'),
        ("a.txt", "", "holds no text that can be seen"),
        ("a.txt", "\ufeff\u200b \r\n\x0c", "holds no text that can be seen"),
        ("a.txt", "第一行\n合同".encode() + "金额".encode("gbk"), r"a\.txt line 2\n.*is not UTF-8"),
        ("a.md", None, r"a\.md\n.*cannot be read: No such file"),
    ],
)
def test_what_is_no_document_is_refused_by_its_name(write, tmp_path, name, content, told):
    path = tmp_path / name if content is None else write(name, content)
    with pytest.raises(DataError, match=told):
        read_document(path)


def test_a_file_over_the_limit_is_refused(write, monkeypatch):
    monkeypatch.setattr("ernie_pp.jobs.asked_documents.MAX_BYTES", 20)
    with pytest.raises(DataError, match="is larger than 20 bytes"):
        read_document(write("a.txt"))


def test_every_question_is_asked_of_every_document_in_order(write):
    paths = [str(write("a.txt", "甲")), str(write("b.md", "乙"))]
    rows = list(rows_of_documents(paths, ["谁？", "何时？"]))
    assert [(row.place.path, row.fields["context"], row.fields["question"]) for row in rows] == [
        (paths[0], "甲", "谁？"),
        (paths[0], "甲", "何时？"),
        (paths[1], "乙", "谁？"),
        (paths[1], "乙", "何时？"),
    ]
    assert [row.fields["id"] for row in rows] == ["a.txt-1", "a.txt-2", "b.md-1", "b.md-2"]


def test_files_of_one_name_in_several_folders_have_ids_of_their_own(write):
    paths = [str(write(name)) for name in ("x/a.txt", "y/a.txt", "y/b.txt")]
    ids = [row.fields["id"] for row in rows_of_documents(paths, ["谁？"])]
    assert ids == [f"{paths[0]}-1", f"{paths[1]}-1", "b.txt-1"]


def test_documents_are_read_one_at_a_time(write):
    rows = rows_of_documents([str(write("a.txt")), "missing.txt"], ["谁？"])
    assert next(rows).fields["id"] == "a.txt-1"
    with pytest.raises(DataError, match=r"missing\.txt"):
        next(rows)


def test_given_questions_come_before_those_of_the_bundle():
    assert settle_questions(["谁收款？"], STORED) == ("谁收款？",)
    assert settle_questions(None, STORED) == tuple(STORED["review"]["questions"])
    assert settle_questions([], STORED) == tuple(STORED["review"]["questions"])


@pytest.mark.parametrize("manifest", [{}, {"review": None}, {"review": {}}, {"review": {"questions": []}}])
def test_without_any_question_one_is_asked_for(manifest):
    with pytest.raises(ConfigError, match=r"--question\n.*is missing[\s\S]*review\.questions"):
        settle_questions(None, manifest)


@pytest.mark.parametrize("stored", ["谁？", ["谁？", 3], {"谁": "？"}, 5])
def test_what_is_no_list_of_questions_in_a_manifest_is_none(stored):
    with pytest.raises(ConfigError, match="--question"):
        settle_questions(None, {"review": {"questions": stored}})


@pytest.mark.parametrize("blank", ["", " \u3000", "\u200b"])
def test_a_question_without_a_text_is_refused_wherever_it_is_from(blank):
    with pytest.raises(ConfigError, match=r"--question\n.*expected a text that can be seen"):
        settle_questions(["谁？", blank], {})
    with pytest.raises(ConfigError, match=r"review\.questions of the bundle\n.*expected a text that can be seen"):
        settle_questions(None, {"review": {"questions": ["谁？", blank]}})


OPTIONS = PredictOptions(
    bundle="bundle",
    input=None,
    text=None,
    document=None,
    question=None,
    output="-",
    format="auto",
    output_format="jsonl",
    text_column=None,
    pair_column=None,
    header=None,
    quoting=None,
    split=None,
    on_error="stop",
    batch_tokens=4096,
    threads=None,
    math="auto",
)
ASKED = {"document": ["a.txt"], "question": ["谁？"]}


def _check(*, asks_documents, takes_pairs=None, **words):
    options = dataclasses.replace(OPTIONS, **words)
    check_words(options)
    check_bundle_words(options, takes_pairs=takes_pairs or asks_documents, asks_documents=asks_documents)


@pytest.mark.parametrize("words", [ASKED, {"document": ["a.txt"]}, {"input": "q.json"}, {"input": "q.csv"}])
def test_a_bundle_that_answers_questions_takes_documents_and_rows(words):
    _check(asks_documents=True, **words)


@pytest.mark.parametrize(
    "words, told",
    [
        ({"input": "q.json", "question": ["谁？"]}, r"--question\n.*no effect without --document"),
        ({**ASKED, "on_error": "skip"}, r"--on-error\n.*no effect on --document"),
        ({**ASKED, "format": "jsonl"}, r"--format\n.*no effect on --document"),
        ({**ASKED, "split": "dev"}, r"--split\n.*no effect on --document"),
        ({**ASKED, "header": False}, r"--no-header\n.*no effect on --document"),
        ({"text": ["甲方"]}, r"--text\n.*answers questions to documents"),
        ({"input": "q.json", "text_column": "body"}, r"--text-column\n.*question files name their fields themselves"),
        ({"input": "q.json", "pair_column": "body"}, r"--pair-column\n.*question files name their fields themselves"),
    ],
)
def test_words_that_do_not_fit_questions_are_refused(words, told):
    with pytest.raises(ConfigError, match=told):
        _check(asks_documents=True, **words)


def test_a_bundle_of_another_task_takes_no_documents():
    with pytest.raises(ConfigError, match=r"--document\n.*does not answer questions to documents"):
        _check(asks_documents=False, **ASKED)
