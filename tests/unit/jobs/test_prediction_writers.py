"""What is written reads back the same, and what a format cannot hold is told with its row."""

import csv
import json

import pytest

from ernie_pp.data.rows import Place
from ernie_pp.errors import ConfigError, DataError, RunError
from ernie_pp.jobs.prediction_writers import open_writer

PLACE = Place("in.jsonl", 7)
ODD = ["平常", 'a "quoted", text', "a\nb\r\nc", " 空格 ", "\u2028", "", "=1+1", "😀"]


def _write(path, rows, kind="auto"):
    with open_writer(str(path), kind) as writer:
        for row in rows:
            writer.write(row, place=PLACE)


def test_json_lines_read_back_the_same(tmp_path):
    rows = [{"text": text, "n": 1.5, "list": ["a", None], "none": None} for text in ODD]
    _write(tmp_path / "a.jsonl", rows)
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
    assert [json.loads(line) for line in lines] == rows
    assert "平常" in lines[0]


def test_csv_reads_back_the_same(tmp_path):
    _write(tmp_path / "a.csv", [{"id": i, "text": text, "tags": ["x"], "none": None} for i, text in enumerate(ODD)])
    with open(tmp_path / "a.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["text"] for row in rows] == ODD
    assert (rows[3]["id"], rows[3]["tags"], rows[3]["none"]) == ("3", '["x"]', "")


def test_tsv_writes_quotes_as_they_are(tmp_path):
    _write(tmp_path / "a.tsv", [{"text": 'a "b"', "id": 1}])
    assert (tmp_path / "a.tsv").read_text(encoding="utf-8") == 'text\tid\na "b"\t1\n'


@pytest.mark.parametrize("text", ["a\tb", "a\nb", "a\rb"])
def test_tsv_refuses_what_it_cannot_hold_and_leaves_no_file(tmp_path, text):
    with pytest.raises(DataError, match=r"in\.jsonl line 7\n  has a TAB or line break(.|\n)*--output-format"):
        _write(tmp_path / "a.tsv", [{"text": "好"}, {"text": text}])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("second", [{"text": "b"}, {"text": "b", "id": 1, "more": 2}, {"text": "b", "no": 1}])
def test_tables_need_the_same_fields_in_every_row(tmp_path, ending, second):
    with pytest.raises(DataError, match=r"in\.jsonl line 7\n  differs from the first row in the field"):
        _write(tmp_path / f"a.{ending}", [{"text": "a", "id": 1}, second])
    assert list(tmp_path.iterdir()) == []


def test_fields_in_another_order_are_put_in_the_first_rows(tmp_path):
    _write(tmp_path / "a.csv", [{"a": 1, "b": 2}, {"b": 4, "a": 3}])
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == "a,b\n1,2\n3,4\n"


@pytest.mark.parametrize(
    "name, kind, begin",
    [("a.txt", "auto", "{"), ("a", "auto", "{"), ("a.csv", "jsonl", "{"), ("a.CSV", "auto", "text")],
)
def test_the_format_goes_by_the_ending_unless_named(tmp_path, name, kind, begin):
    _write(tmp_path / name, [{"text": "a"}], kind)
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begin)


def test_an_output_that_cannot_be_is_told_at_once(tmp_path):
    with (
        pytest.raises(ConfigError, match=r"the folder .*none is not there"),
        open_writer(str(tmp_path / "none" / "a"), "auto"),
    ):
        pytest.fail("the block must not begin")
    with pytest.raises(RunError, match="it is a folder"), open_writer(str(tmp_path), "auto"):
        pytest.fail("the block must not begin")


def test_a_full_device_is_told():
    with pytest.raises(RunError, match="/dev/full\n  cannot be written: No space left"):
        _write("/dev/full", [{"text": "a"}])


@pytest.mark.parametrize("output", ["out.jsonl", "/dev/null", "-"])
def test_an_error_of_the_work_is_not_blamed_on_the_output(tmp_path, monkeypatch, capfd, output):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdout", __import__("sys").__stdout__)
    with pytest.raises(FileNotFoundError), open_writer(output, "auto"):
        (tmp_path / "input").read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == []
