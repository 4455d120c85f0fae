"""Lines of a byte stream: strict UTF-8, numbered, and never longer in memory than a limit."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from ernie_pp.data.faults import MAX_EXCERPT
from ernie_pp.data.readers.settings import Source
from ernie_pp.data.rows import Fault, Place

# Longest row, in bytes. A text of 350,000 Chinese characters fits; a longer line is a broken file.
MAX_LINE_BYTES = 1 << 20
UTF8_BOM = b"\xef\xbb\xbf"
_OTHER_BOMS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_COMMON_MARKS = "，。！？、：；“”（）《》…—"


class Line(NamedTuple):
    """One line: its number from 1, its text without the line end, the line end, and what is wrong with it."""

    number: int
    text: str
    end: str
    fault: Fault | None


def read_lines(source: Source) -> Iterator[Line]:
    """Lines ended by LF or CRLF, or by CR in a file that begins without any LF; nothing else ends a line.

    A line with a fault still has a text (bad bytes spelled out) so that quotes around it can be followed.
    """
    for number, data in enumerate(_split(source.stream), start=1):
        if number == 1:
            data = data.removeprefix(UTF8_BOM)
        fault = None
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            fault = bad_bytes_fault(Place(source.name, number), data, start=error.start)
            text = data.decode("utf-8", "backslashreplace")
        if len(data) > MAX_LINE_BYTES:
            fault, text = _long_line_fault(Place(source.name, number), text), "\n"
        if "\0" in text:
            fault = fault or _nul_fault(Place(source.name, number), text)
            text = text.replace("\0", "\ufffd")
        body = text[:-1] if text.endswith(("\n", "\r")) else text
        body = body[:-1] if text.endswith("\r\n") else body
        yield Line(number, body, text[len(body) :], fault)


def other_encoding(start: bytes) -> str | None:
    """UTF-16 or UTF-32 when the first bytes of a file are a mark of it."""
    return next((name for mark, name in _OTHER_BOMS.items() if start.startswith(mark)), None)


def bad_bytes_fault(place: Place, data: bytes, *, start: int) -> Fault:
    """The fault of bytes that are not UTF-8 from `start` on, with a guess at what they are."""
    byte = f"byte {start + 1} of the line (0x{data[start]:02X})"
    chinese = _read_as_gb18030(data)
    if chinese is not None:
        advice = "Save the file as UTF-8: iconv -f GB18030 -t UTF-8 FILE > NEW_FILE."
        return Fault(place, byte, chinese, "UTF-8 (the line reads well as GBK/GB18030, as shown here)", advice)
    around = data[max(0, start - 24) : start + 8].decode("utf-8", "backslashreplace")
    return Fault(place, byte, around[-MAX_EXCERPT:], "UTF-8", "Save the file as UTF-8, or remove the broken bytes.")


def _split(stream: BinaryIO) -> Iterator[bytes]:
    """Lines with their ends; of a line over the limit only its beginning."""
    start = stream.peek(1)  # type: ignore[attr-defined]
    if b"\r" in start and b"\n" not in start:
        yield from _split_universal(stream)
        return
    while data := stream.readline(MAX_LINE_BYTES + 2):
        yield data
        while not data.endswith(b"\n") and data:
            data = stream.readline(MAX_LINE_BYTES)


def _split_universal(stream: BinaryIO) -> Iterator[bytes]:
    """As above, with a lone CR as a line end too; Latin-1 maps each byte to one character and back."""
    text = io.TextIOWrapper(stream, encoding="latin-1", newline="")
    try:
        while data := text.readline(MAX_LINE_BYTES + 2):
            yield data.encode("latin-1")
            while not data.endswith(("\n", "\r")) and data:
                data = text.readline(MAX_LINE_BYTES)
    finally:
        text.detach()  # else the wrapper closes a stream that is not ours


def _long_line_fault(place: Place, text: str) -> Fault:
    expected = f"a line of at most {MAX_LINE_BYTES:,} bytes"
    advice = "A line end may be missing; a longer text has to be split into several rows."
    return Fault(place, "line", text[: MAX_EXCERPT + 1], expected, advice)


def _nul_fault(place: Place, text: str) -> Fault:
    position = text.index("\0")
    many = text.count("\0") * 3 > len(text)
    advice = "The file looks like UTF-16: save it as UTF-8." if many else "Remove the NUL character from the line."
    return Fault(
        place, f"character {position + 1}", text[max(0, position - 20) : position + 20], "text without NUL", advice
    )


def _read_as_gb18030(data: bytes) -> str | None:
    """The beginning of the text in China's own encoding, where that makes it common Chinese."""
    try:
        text = codecs.getincrementaldecoder("gb18030")().decode(data[:4096])
    except UnicodeDecodeError:
        return None
    beyond_ascii = [one for one in text if one > "\x7f"]
    num_common = sum("\u4e00" <= one <= "\u9fa5" or one in _COMMON_MARKS for one in beyond_ascii)
    return text.rstrip("\r\n") if num_common >= 0.8 * len(beyond_ascii) else None
