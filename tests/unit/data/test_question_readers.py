"""Files of questions, read article by article whatever stands around the articles."""

import io

import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.errors import DataError


def rows_of(tmp_path, content, name="a.json", *, faults=None, **settings):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_rows(path, settings=ReadSettings(kind="questions", **settings), faults=faults or Faults()))


def fields_of(tmp_path, content, name="a.json", **settings):
    return [row.fields for row in rows_of(tmp_path, content, name, **settings)]


@pytest.mark.parametrize(
    "content",
    [
        '{"version": "1", "data": [{"n": 1}, {"n": 2}]}',
        '{"data": [{"n": 1}, {"n": 2}], "version": {"data": [3]}}',
        '[{"n": 1}, {"n": 2}]',
        '{"n": 1}\n{"n": 2}\n',
        '\ufeff {"n": 1} {"n": 2}',
        '{"data": [{"n": 1}]}\n{"data": [{"n": 2}]}',
    ],
)
def test_json_gives_its_articles_whatever_is_around_them(tmp_path, content):
    assert fields_of(tmp_path, content) == [{"n": 1}, {"n": 2}]


def test_each_article_has_the_line_it_begins_on(tmp_path):
    content = '{\n "version": 1,\n "data": [\n  {"n":\n 1},\n\n  {"n": 2}]}\n{"n": 3}'
    assert [row.place.line for row in rows_of(tmp_path, content)] == [4, 7, 8]


def test_an_object_whose_data_is_no_list_is_a_row(tmp_path):
    assert fields_of(tmp_path, '{"data": "x"}\n{}') == [{"data": "x"}, {}]


def test_lines_by_their_ending_are_read_as_lines(tmp_path):
    line = '{"data": [{"n": 1}]}\n'
    assert fields_of(tmp_path, line, "a.jsonl") == [{"data": [{"n": 1}]}]
    assert fields_of(tmp_path, line, "a.jsonl", format="squad") == [{"n": 1}]


def test_standard_input_tells_its_layout_too():
    stream = io.BytesIO(b'{"version": 1, "data": [{"n": 1}]}')
    rows = list(read_rows(stream, settings=ReadSettings(kind="questions"), faults=Faults()))
    assert [row.fields for row in rows] == [{"n": 1}]


def test_tables_have_named_columns_and_need_none_of_the_settings(tmp_path):
    fields = fields_of(tmp_path, "context,question\n甲乙,什么\n", "a.csv", columns=("text",))
    assert fields == [{"context": "甲乙", "question": "什么"}]
    assert fields_of(tmp_path, '[{"n": 1}]', columns=("text",)) == [{"n": 1}]


def test_an_article_may_be_longer_than_a_line_may(tmp_path):
    text = "甲" * (1 << 20)
    assert fields_of(tmp_path, f'{{"data": [{{"a": "{text}"}}]}}') == [{"a": text}]


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ('{"data": [{"n": 1},\n{"n": }]}', ["line 2", "valid JSON"]),
        ('{"data": [{"n": 1}\n', ["line 2", "end of the file", ", or ] after an element"]),
        ('{"data": [{"n": 1}]\n"a": 2}', ["line 2", ", or } after a field"]),
        ('{"data": [{"n": 1}], data: 2}', ["the name of a field in double quotes"]),
        ('{"data" [{"n": 1}]}', [": after the name of a field"]),
        ('{"data": [1]}', ["line 1", 'found "1"', "a JSON object"]),
        ('{"a": 1, "a": 2, "data": [{"n": 1}]}', ['key "a"', "every key once"]),
        ('{"data": [{"n": 1}], "data": []}', ['key "data"', "every key once"]),
        ('{"data": [{"n": NaN}]}', ["NaN", "a finite number"]),
        ('{"data": [{"n": 1}], "a": NaN}', ["NaN", "a finite number"]),
        ('{"data": [{"n": 1, "n": 2}]}', ['key "n"', "every key once"]),
        ('{"data": [{"n": "\\ud800"}]}', ["a lone surrogate"]),
        ('{"data": [{"n": 1}]} x', ["{ or [ at the start"]),
        ('{"data": []}', ["at least one row"]),
        ('{"data": [{"n": "中文，字"}]}'.encode("gb18030"), ["GBK/GB18030"]),
        ('{"data": [{"n": "中"}]}'.encode("utf-16"), ["UTF-16"]),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path, content, parts):
    with pytest.raises(DataError) as caught:
        rows_of(tmp_path, content)
    assert [part for part in parts if part not in str(caught.value)] == []


def test_skipping_leaves_out_a_broken_line_and_reads_on(tmp_path):
    faults = Faults(on_error="skip")
    rows = rows_of(tmp_path, '{"n": 1}\n{"n": x}\n{"n": 3}\n', faults=faults)
    assert [row.fields for row in rows] == [{"n": 1}, {"n": 3}]
    assert faults.count == 1


def test_a_file_that_is_cut_off_is_refused_even_where_rows_are_skipped(tmp_path):
    with pytest.raises(DataError, match="it ends in the middle"):
        rows_of(tmp_path, '{"data": [{"n": 1}, {"n": "ab', faults=Faults(on_error="skip"))
