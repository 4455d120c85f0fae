"""brat's pairs of files, and how a file of entities is told to be brat's, JSON or tokens with tags."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.errors import ConfigError, DataError

JSON_LINE = '{"text": "张三", "entities": []}\n'


def read_entities(path, faults=None, **settings) -> list[Any]:
    return list(read_rows(path, settings=ReadSettings(kind="entities", **settings), faults=faults or Faults()))


def marked(row):
    text = row.fields["text"]
    return [(text[one["start"] : one["end"]], one["label"]) for one in row.fields["entities"]]


@pytest.fixture
def brat(tmp_path: Path):
    """A folder of brat's with these files; its path."""

    def write(**files: str) -> Path:
        for name, content in files.items():
            (tmp_path / name.replace("_", ".")).write_bytes(content.encode())
        return tmp_path

    return write


def test_brat_documents_come_by_name_with_their_entities(brat):
    folder = brat(
        b_txt="张三\r\n在𠮷京",
        b_ann="T1\tPER 0 2\t张三\nR1\tin Arg1:T1 Arg2:T2\nT2\tLOC 6 7\t京\r\n#1\tNote T1\tx\n* Equiv T1\n",
        a_txt="无",
        a_ann="",
    )
    first, second = read_entities(folder)
    assert first.fields == {"id": "a", "text": "无", "entities": [], "brat": {"others": 0}}
    assert second.place.path == str(folder / "b.ann") and second.place.line == 1
    assert second.fields["id"] == "b" and second.fields["text"] == "张三\r\n在𠮷京"
    assert marked(second) == [("张三", "PER"), ("京", "LOC")]
    assert [one["text"] for one in second.fields["entities"]] == ["张三", "京"]
    assert second.fields["brat"] == {"others": 3}


@pytest.mark.parametrize("name", ["a.ann", "a.txt"])
def test_one_brat_document_is_named_by_either_of_its_files(brat, name):
    folder = brat(a_txt="张三", a_ann="T1\tPER 0 2\t张三\n", b_txt="李四", b_ann="")
    (row,) = read_entities(folder / name, format="brat")
    assert marked(row) == [("张三", "PER")]


def test_a_file_of_marks_is_brat_by_its_ending(brat):
    folder = brat(a_txt="张三", a_ann="T1\tPER 0 2\t张三\n")
    assert [marked(row) for row in read_entities(folder / "a.ann")] == [[("张三", "PER")]]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("T2\tPER 0 1;2 3\t张三", "one span without a gap"),
        ("T2\tPER 0\t张", "a label, a start and an end"),
        ("T2\tPER 0 x\t张", "a label, a start and an end"),
        ("T2\tPER -1 1\t张", "a label, a start and an end"),
        ("T2 PER 0 1 张", "a label, a start and an end"),
    ],
)
def test_a_mark_that_is_no_single_span_is_told_by_its_line(brat, line, expected):
    folder = brat(a_txt="张三", a_ann=f"T1\tPER 0 2\t张三\n{line}\n")
    with pytest.raises(DataError, match=rf"a\.ann line 2\n.*expected {expected}"):
        read_entities(folder)


@pytest.mark.parametrize("name", ["b.txt", "b.ann"])
def test_brat_follows_no_link(brat, tmp_path_factory, name):
    outside = tmp_path_factory.mktemp("outside") / "secret"
    outside.write_text("T1\tPER 0 1\ts\n")
    folder = brat(a_txt="张三", a_ann="", b_txt="李四", b_ann="")
    (folder / name).unlink()
    os.symlink(outside, folder / name)
    faults = Faults(on_error="skip")
    assert [row.fields["id"] for row in read_entities(folder, faults)] == ["a"]
    assert [(fault.place.path, fault.value) for fault in faults.listed] == [(str(folder / name), "a link")]


def test_marks_without_their_text_are_refused(brat):
    with pytest.raises(DataError, match=r"a\.txt[\s\S]*Each \.ann has its \.txt"):
        read_entities(brat(a_ann="T1\tPER 0 2\t张三\n"))


def test_a_text_without_marks_is_no_brat_document(brat):
    with pytest.raises(DataError, match=r"has no a\.ann beside it"):
        read_entities(brat(a_txt="张三") / "a.txt", format="brat")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", JSON_LINE),
        ("a.json", f"[{JSON_LINE}]"),
        ("a.jsonl", JSON_LINE),
        ("a.ndjson", JSON_LINE),
        ("a.txt", f"\ufeff \n{JSON_LINE}"),
        ("a.conll", f"[{JSON_LINE}]"),
        ("a.csv", "text\n张三\n"),
        ("a.txt", "张 O\n三 O\n"),
        ("a.tsv", "张 三\tO O\n"),
        ("a.bmes", "张 O\n三 O\n"),
        ("a", "张\tO\n三\tO\n"),
    ],
)
def test_a_file_of_entities_is_told_by_its_first_character_or_ending(read, name, content):
    (row,) = read(name, content, kind="entities")
    assert row.fields["text"] == "张三"


@pytest.mark.parametrize("name", ["a.txt", "a.conll", "a"])
@pytest.mark.parametrize(
    "content", ["[ O\n哈 B-X\n] O\n", "\ufeff\n{\tO\r\n哈\tB-X\r\n}\tO\r\n", "[ 哈 ]\tO B-X O\n", "[\x02哈\tO\x02B-X\n"]
)
def test_a_bracket_with_a_tag_behind_it_is_a_token(read, name, content):
    (row,) = read(name, content, kind="entities")
    assert row.fields["text"][:2] in ("[哈", "{哈") and len(row.fields["entities"]) == 1


@pytest.mark.parametrize("start", ['[{"tags": "O B-X",\n', '[\n{"tags": "O O",\n', '[{"tags":\n"O B-X",\n'])
def test_json_over_several_lines_with_tags_in_it_is_json(read, start):
    (row,) = read("a.txt", f'{start}"text": "张三"}}]\n', kind="entities")
    assert row.fields["text"] == "张三"


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson"])
def test_json_lines_by_the_ending_are_never_tokens(read, name):
    with pytest.raises(DataError, match=r"line 1\n.*JSON"):
        read(name, "张 O\n", kind="entities")


def test_a_json_file_of_tokens_has_to_be_named(read, tmp_path):
    with pytest.raises(ConfigError, match=r"data\.format[\s\S]*neither with \{ nor with \[[\s\S]*conll"):
        read("a.json", "张 O\n", kind="entities")
    assert [row.fields["text"] for row in read_entities(tmp_path / "a.json", format="conll")] == ["张"]


def test_rows_of_other_tasks_are_read_as_before(read, tmp_path):
    (row,) = read("a.txt", "text\tlabel\n张 三\tB-PER I-PER\n")
    assert row.fields == {"text": "张 三", "label": "B-PER I-PER"}
    (tmp_path / "a.ann").write_text("")
    with pytest.raises(DataError, match="is a folder"):
        list(read_rows(tmp_path, settings=ReadSettings(), faults=Faults()))
