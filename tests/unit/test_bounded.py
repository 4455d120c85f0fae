"""Small files are read within their limit, and each fault names the file, the line and what to do."""

import os

import pytest

from ernie_pp.bounded import read_json, read_text
from ernie_pp.errors import ConfigError, ModelError


def _json(path, max_bytes=100):
    return read_json(path, max_bytes=max_bytes, error=ModelError, do="Get it again.")


@pytest.mark.parametrize("content, value", [(b'{"a": 1}', {"a": 1}), (b"\xef\xbb\xbf[]", []), ('"好"'.encode(), "好")])
def test_a_value_is_read_with_and_without_a_mark(tmp_path, content, value):
    (tmp_path / "a").write_bytes(content)
    assert _json(tmp_path / "a") == value


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "a\n  cannot be read as JSON: .*\n  Get it again"),
        (b"[" * 100_000, "a\n  cannot be read as JSON: "),
        (b"1\n\n\xff", "a line 3\n  cannot be read: byte 0xff is not UTF-8\n  Get it again"),
        (b"\xef\xbb\xbf1\n\xff", "a line 2\n  cannot be read: byte 0xff"),
        (b" " * 200_001, "a\n  is larger than 200000 bytes\n  Get it again"),
    ],
)
def test_what_is_no_json_says_why(tmp_path, content, message):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ModelError, match=message):
        _json(tmp_path / "a", max_bytes=200_000)


def test_the_limit_itself_is_allowed(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert read_text(tmp_path / "a", max_bytes=5, error=ConfigError) == "12345"
    with pytest.raises(ConfigError, match="larger than 4"):
        read_text(tmp_path / "a", max_bytes=4, error=ConfigError)


def test_a_missing_file_a_folder_and_a_pipe_are_no_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, message in (("none", "No such file"), ("", "Is a directory"), ("pipe", "as JSON")):
        with pytest.raises(ModelError, match=message):
            _json(tmp_path / name)
