import io
import os
import subprocess
import sys

import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.data.rows import Fault
from ernie_pp.errors import ConfigError, DataError

ROW = '{"text": "好"}'


def read(source, **settings):
    return list(read_rows(source, settings=ReadSettings(**settings), faults=Faults()))


@pytest.mark.parametrize(
    ("data", "settings"),
    [
        (f"{ROW}\n{ROW}\n", {}),
        (f"[{ROW}, {ROW}]", {}),
        ("text\n好\n好\n", {"format": "tsv"}),
        ('text\n"好"\n好\n', {"format": "csv"}),
    ],
)
def test_an_open_stream_is_read_and_left_open(data, settings):
    stream = io.BytesIO(data.encode())
    rows = read(stream, **settings)
    assert [(row.fields["text"], row.place.path) for row in rows] == [("好", "standard input")] * 2
    assert not stream.closed


def test_rows_of_a_pipe_come_before_it_ends():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb") as out:
        out.write(f"{ROW}\n{ROW}\n".encode())
        out.flush()
        rows = read_rows(stream, settings=ReadSettings(format="jsonl"), faults=Faults())
        assert next(rows).fields["text"] == "好"
        rows.close()


def test_a_dash_is_standard_input():
    code = (
        "from ernie_pp.data.readers import *; from ernie_pp.data.faults import Faults\n"
        "print(*(row.place for row in read_rows('-', settings=ReadSettings(), faults=Faults())))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=f"{ROW}\n".encode(), capture_output=True, check=True)
    assert done.stdout.decode().strip() == "standard input line 1"


@pytest.mark.parametrize(
    ("name", "advice"), [("a.xlsx", "CSV"), ("a.dat", "tsv, csv"), ("a", "tsv, csv"), ("a.gz", "Unpack")]
)
def test_an_unknown_format_asks_for_the_setting(tmp_path, name, advice):
    (tmp_path / name).write_text("text\n好\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=advice):
        read(tmp_path / name)
    assert len(read(tmp_path / name, format="tsv")) == 1


def test_a_missing_file_names_the_nearest_one(tmp_path):
    (tmp_path / "train.tsv").write_text("text\n好\n", encoding="utf-8")
    with pytest.raises(DataError, match=r'Did you mean "train.tsv"'):
        read(tmp_path / "trian.tsv")
    with pytest.raises(DataError, match="no folder"):
        read(tmp_path / "nowhere" / "train.tsv")
    with pytest.raises(DataError, match="is a folder"):
        read(tmp_path)


def test_faults_the_caller_finds_on_the_way_come_with_the_readers_own(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(f"{ROW}\n3\n{ROW}\n", encoding="utf-8")
    faults = Faults()
    with pytest.raises(DataError, match=r"line 1[\s\S]*line 2[\s\S]*line 3"):
        for row in read_rows(path, settings=ReadSettings(), faults=faults):
            faults.add(Fault(row.place, "label", "", "one of: a, b"))


def test_a_source_whose_rows_were_all_skipped_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("3\n4\n", encoding="utf-8")
    with pytest.raises(DataError, match="2 skipped"):
        list(read_rows(path, settings=ReadSettings(), faults=Faults(on_error="skip")))


def test_an_edit_with_the_same_time_and_size_is_seen(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("text\n好\n", encoding="utf-8")
    stat = path.stat()
    rows = read(path)
    path.write_text("text\n差\n", encoding="utf-8")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_size == stat.st_size and path.stat().st_mtime_ns == stat.st_mtime_ns
    assert read(path)[0].fields != rows[0].fields


@pytest.mark.parametrize("name", ["x" * 300, "loop", "a\0b", "\ud800"])
def test_a_name_the_system_refuses_is_an_error_of_the_data(tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(DataError, match=r"cannot be opened|is not there"):
        list(read_rows(str(tmp_path / name), settings=ReadSettings(), faults=Faults(on_error="stop")))


def test_a_closed_standard_input_is_said(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(DataError, match="standard input\n  is closed"):
        list(read_rows("-", settings=ReadSettings(format="jsonl"), faults=Faults(on_error="stop")))
