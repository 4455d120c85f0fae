"""Files that would fill the memory, or end the process, cost neither."""

import io
import json
import tracemalloc

import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.errors import DataError

MEGABYTE = 1 << 20


class Repeated(io.RawIOBase):
    """A stream of `head`, then `piece` over and over up to a size, then `tail`; it is nowhere whole in memory."""

    def __init__(self, head, piece, tail=b"", *, size):
        self._blocks = self._make(head, piece, tail, size)
        self._rest = b""

    def _make(self, head, piece, tail, size):
        yield head
        block = piece * (65536 // len(piece) + 1)
        for _ in range(size // len(block)):
            yield block
        yield tail

    def readable(self):
        return True

    def readinto(self, buffer):
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = block
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def peak_of(stream, *, faults=None, **settings):
    """Rows read, the error, and the most memory used."""
    num_rows, error = 0, None
    faults = faults or Faults()
    tracemalloc.start()
    try:
        for _ in read_rows(io.BufferedReader(stream), settings=ReadSettings(**settings), faults=faults):
            num_rows += 1
    except DataError as caught:
        error = caught
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return num_rows, error, peak


LONG = [
    ("tsv", b"text\n", b"x" * 64, b"\n"),
    ("tsv", b"text\r", b"x" * 64, b"\r"),
    ("csv", b"text\n", b"x" * 64, b"\n"),
    ("csv", b'text\n"', b"x" * 65535 + b"\n", b'"\n'),
    ("jsonl", b'{"text": "', b"x" * 64, b'"}\n'),
    ("json", b'[{"text": "', b"x" * 64, b'"}]'),
]


@pytest.mark.parametrize(("name", "head", "piece", "tail"), LONG)
def test_a_row_of_100_megabytes_is_refused_in_little_memory(name, head, piece, tail):
    _, error, peak = peak_of(Repeated(head, piece, tail, size=100 * MEGABYTE), format=name)
    assert error is not None and error.exit_code == 3
    assert peak < 40 * MEGABYTE


@pytest.mark.parametrize("name", ["tsv", "csv", "jsonl", "json"])
def test_a_long_file_is_read_in_little_memory(name):
    text = "好" * 1000
    line = json.dumps({"text": text}).encode() if "json" in name else text.encode()
    head = {"tsv": b"text\n", "csv": b"text\n", "jsonl": b"", "json": b"[" + line}[name]
    piece = b"," + line if name == "json" else line + b"\n"
    stream = Repeated(head, piece, b"]" if name == "json" else b"", size=20 * MEGABYTE)
    num_rows, error, peak = peak_of(stream, format=name)
    assert error is None and num_rows > 3000
    assert peak < 4 * MEGABYTE


def test_a_file_of_bad_rows_only_is_skipped_in_little_memory():
    faults = Faults(on_error="skip")
    head, bad = b'{"a": 1}\n', b"[1]\n"
    num_rows, error, peak = peak_of(Repeated(head, bad, size=MEGABYTE // 8), faults=faults, format="jsonl")
    assert error is None and num_rows == 1 and faults.count > 16_000 > len(faults.listed)
    assert peak < 20 * MEGABYTE


@pytest.mark.parametrize("piece", [b"[", b'{"a":', b'[{"a":'])
@pytest.mark.parametrize("name", ["jsonl", "json"])
def test_100_000_brackets_end_no_process(name, piece):
    _, error, peak = peak_of(io.BytesIO(b"[" + piece * 100_000), format=name)  # type: ignore[arg-type]
    assert error is not None and "64 levels" in str(error)
    assert peak < 60 * MEGABYTE


def test_reading_starts_at_once():
    stream = Repeated(b"text\n", b"abc\n", size=10**12)
    rows = read_rows(io.BufferedReader(stream), settings=ReadSettings(format="tsv"), faults=Faults())
    assert next(rows).fields == {"text": "abc"}
