import json

import pytest

from ernie_pp.data.faults import Faults

ROW = '{"label": 1, "text": "好"}'


def fields(rows):
    return [dict(row.fields) for row in rows]


def test_values_keep_their_json_types(read):
    record = {"text": "NA", "n": 123, "x": 1.5, "none": None, "yes": True, "list": ["a", 1], "in": {"a": []}}
    big = "123456789012345678901234567890"
    rows = read("a.jsonl", json.dumps(record) + f'\n{{"text": "2024-01-01", "n": {big}}}\n')
    assert fields(rows) == [record, {"text": "2024-01-01", "n": int(big)}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_blank_lines_and_mark_of_order(read, end, mark):
    lines = read("a.jsonl", mark + end.join([ROW, "", "  ", ROW, ""]))
    array = read("a.json", mark + end.join(["[", ROW + ",", ROW, "]", ""]))
    assert [row.place.line for row in lines] == [1, 4]
    assert [row.place.line for row in array] == [2, 3]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_unicode_line_separators_and_inner_mark_are_text(read, name):
    text = "前\u2028\u2029\u0085\ufeff😀后"
    line = json.dumps({"text": text}, ensure_ascii=False)
    data = line + "\n" + json.dumps({"text": text}) + "\n" if name == "a.jsonl" else f"[{line}, {line}]"
    assert [row.fields["text"] for row in read(name, data)] == [text, text]


def test_json_ending_may_hold_lines_an_array_or_an_array_a_line(read):
    assert len(read("a.json", f"{ROW}\n{ROW}\n")) == 2
    assert len(read("a.json", f" \n[{ROW},\n{ROW}]")) == 2
    rows = read("a.json", f"[{ROW}, {ROW}]\n[]\n[{ROW}]\n")
    assert [row.place.line for row in rows] == [1, 1, 3]
    assert fields(read("a.jsonl", f"[{ROW}, {ROW}]\n[]\n[{ROW}]\n")) == fields(rows)


FAULTS = [
    ('{"text": "好', ["character 10", "ends in the middle"]),
    ('{"text": "好"', ["ends in the middle"]),
    ('{"text": tru}', ["character 10", "valid JSON"]),
    ("{'text': 1}", ["character 2", "property name"]),
    ('{"text": "a\tb"}', ["control character"]),
    ('{"text": "a\\xb"}', ["character 12", "escape"]),
    ('{"text": 1, "text": 2}', ['key "text"', "every key once"]),
    ('{"a": {"k": 1, "k": 2}}', ['key "k"', "every key once"]),
    ('{"text": NaN}', ["NaN", "finite"]),
    ('{"text": -Infinity}', ["-Infinity", "finite"]),
    ('{"text": 1e999}', ["1e999"]),
    ('{"text": ' + "9" * 5000 + "}", ["4,300 digits"]),
    ('{"text": "\\ud83d"}', ["text: ", "lone surrogate", "\\ud83d"]),
    ('{"a": [{"b": "\\udc00x"}]}', ["a: ", "lone surrogate"]),
    ('{"text": "好\\u0000"}', ["text: ", "without NUL", "\\x00"]),
    ('{"\\ud83d": 1}', ["lone surrogate"]),
    ('"只有文字"', ["a JSON object"]),
    ("12", ["a JSON object"]),
    ("null", ["a JSON object"]),
    ('{"text": ' + "[" * 70 + "]" * 70 + "}", ["64 levels"]),
    ("[" * 100_000, ["64 levels"]),
    ('{"a":' * 100_000, ["64 levels"]),
    ('{"lable": 1}', ['field "label"', 'mean "lable"']),
]


@pytest.mark.parametrize(("line", "parts"), FAULTS, ids=[line[:24] for line, _ in FAULTS])
def test_faults_of_a_line_are_named(refused, line, parts):
    settings = {"columns": ("label",)} if "lable" in line else {}
    message = refused("a.jsonl", f"{ROW}\n{line}\n{ROW}\n", **settings)
    assert [part for part in ["a.jsonl line 2", *parts] if part not in message] == []


@pytest.mark.parametrize(("element", "parts"), FAULTS, ids=[line[:24] for line, _ in FAULTS])
def test_faults_of_an_array_element_are_named(refused, element, parts):
    settings = {"columns": ("label",)} if "lable" in element else {}
    message = refused("a.json", f"[{ROW},\n{element},\n{ROW}]\n", **settings)
    # In an array a text or object that is not closed swallows what follows, up to the next quote or the end.
    parts = ["JSON"] if element in ('{"text": "好', '{"text": "好"') else parts
    assert [part for part in ["a.json line 2", *parts] if part not in message] == []


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (f"{ROW}{ROW}\n", ["line 1", "character 26", "nothing after"]),
        ("{\n", ["line 1", "data.format: json"]),
        ("\n \n", ["at least one row"]),
        (b'{"text": "\xba\xc3\xc6\xc0\xd0\xa1\xb5\xea"}\n', ["line 1", "byte 11", "0xBA", "GB18030"]),
        (b'{"text": "\0"}\n', ["line 1", "without NUL"]),
    ],
)
def test_faults_of_a_file_of_lines_are_named(refused, data, parts):
    message = refused("a.jsonl", data)
    assert [part for part in parts if part not in message] == []


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (f"[{ROW},\n{ROW}", ["line 2", ", or ] after an element"]),
        (f"[{ROW}\n{ROW}]", ["line 2", ", or ] after an element", '{"label"']),
        (f"[{ROW},\n]", ["line 2", "expecting value"]),
        (f"[{ROW}]\nrest", ["line 2", "[ at the start"]),
        ("[]", ["at least one row"]),
        (f"{ROW}\n", ["line 1", "[ at the start", "data.format: jsonl"]),
        ("[", ["line 1", "valid JSON"]),
        (f"[{ROW},\n".encode() + b'{"text": "a\xff"}]', ["line 2", "byte 42 of the file (0xFF)"]),
        (f"[{ROW},\n".encode() + b'{"text": "a\0"}]', ["line 2", "control character"]),
    ],
)
def test_faults_of_an_array_are_named(refused, data, parts):
    message = refused("a.json", data, format="json")
    assert [part for part in parts if part not in message] == []


def test_skipping_leaves_out_the_bad_rows_of_lines(read):
    faults = Faults(on_error="skip")
    rows = read("a.jsonl", f'{ROW}\n{{"a"\n{{"a": NaN}}\n3\n{ROW}\n', faults=faults)
    assert [row.place.line for row in rows] == [1, 5]
    assert [fault.place.line for fault in faults.listed] == [2, 3, 4]


def test_skipping_leaves_out_the_bad_elements_of_an_array(read):
    faults = Faults(on_error="skip")
    rows = read("a.json", f'[{ROW},\n{{"a": NaN}},\n3,\n{{"a": "\\ud800"}},\n{ROW}]', faults=faults)
    assert [row.place.line for row in rows] == [1, 5]
    assert [fault.place.line for fault in faults.listed] == [2, 3, 4]


def test_after_broken_json_reading_goes_on_with_the_next_array_line(read):
    faults = Faults(on_error="skip")
    rows = read("a.json", f'[{ROW}]\n[{ROW}, {{"a": ]\n[{ROW}, {ROW}]\n', faults=faults)
    assert [row.place.line for row in rows] == [1, 2, 3, 3]
    assert [fault.place.line for fault in faults.listed] == [2]


def test_a_broken_array_is_refused_where_the_rest_cannot_be_read(refused):
    message = refused("a.json", f"[{ROW},\n{{broken\n{ROW}]", faults=Faults(on_error="skip"))
    assert "a.json line 2" in message


def test_several_faults_come_in_one_message(refused):
    message = refused("a.jsonl", f"3\n{ROW}\n4\n")
    assert "line 1" in message and "line 3" in message


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_elements_are_whole_wherever_the_blocks_of_the_stream_end(read, monkeypatch, size):
    monkeypatch.setattr("ernie_pp.data.readers.open_json._BLOCK_BYTES", size)
    records = [{"text": "好\n评😀" * index, "n": [index, -1.5, True, None]} for index in range(20)]
    data = "[" + ",\r\n".join(json.dumps(one, ensure_ascii=index % 2 == 0) for index, one in enumerate(records)) + "]"
    rows = read("a.json", data)
    assert fields(rows) == records
    assert [row.place.line for row in rows] == list(range(1, 21))


def test_where_all_rows_are_left_out_the_first_is_named(refused):
    message = refused("a.jsonl", "3\n[4]\n", faults=Faults(on_error="skip"))
    assert "2 skipped, 0 read" in message and "All rows are left out. The first: " in message
    assert "a.jsonl line 1, " in message and '"3", expected ' in message
