"""The part of a JSON stream that is being decoded: at most one element and one block of it are held."""

from __future__ import annotations

import codecs
import dataclasses
import io
import re
from collections.abc import Callable, Iterator

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers.lines import MAX_LINE_BYTES, UTF8_BOM, bad_bytes_fault
from ernie_pp.data.readers.settings import Source
from ernie_pp.data.readers.strict_json import Decoded, JsonSyntaxError, Problem, StrictDecoder
from ernie_pp.data.rows import Fault, Place

# Longest element, in characters.
MAX_ELEMENT_CHARACTERS = MAX_LINE_BYTES
_BLOCK_BYTES = 1 << 16
_BLANKS = " \t\n\r"


class OpenText:
    """A stream of JSON that is read on as it is decoded; an element longer than the limit is an error."""

    def __init__(self, source: Source, *, max_characters: int = MAX_ELEMENT_CHARACTERS) -> None:
        self.bad_bytes: Fault | None = None  # met at the end of what can be read
        self._source, self._max_characters = source, max_characters
        self._utf8 = codecs.getincrementaldecoder("utf-8")("strict")
        # CRLF and CR become LF, so that lines can be counted; inside a JSON string neither may stand.
        self._newlines = io.IncrementalNewlineDecoder(None, translate=True)
        self._decoder = StrictDecoder()
        self._text, self._at, self._line = "", 0, 1
        self._is_first, self._is_ended = True, False
        self._num_bytes = 0

    @property
    def place(self) -> Place:
        """Where the next character stands."""
        return Place(self._source.name, self._line)

    def excerpt(self) -> str:
        """The next characters, for a message; empty at the end."""
        return self._text[self._at : self._at + 61]

    def next_character(self) -> str:
        """The next character that is not blank, which stays unread; "" at the end."""
        while True:
            rest = self._text[self._at : self._at + 1]
            if rest and rest not in _BLANKS:
                return rest
            if rest:
                self.pass_over(rest)
            elif not self._read_more():
                return ""

    def pass_over(self, text: str) -> None:
        """Go on behind this text, which is what comes next."""
        self._at += len(text)
        self._line += text.count("\n")

    def decode(self) -> Decoded:
        """The element that begins here."""
        while True:
            try:
                decoded = self._decoder.decode(self._text, self._at)
            except JsonSyntaxError as error:
                if not error.is_cut_off or not self._may_grow():
                    raise self._too_long() if error.is_cut_off and not self._is_ended else error from None
                continue
            # 12 may be the beginning of 123.
            is_closed = isinstance(decoded.value, (dict, list, str))
            if not is_closed and decoded.end == len(self._text) and self._may_grow():
                continue
            self.pass_over(self._text[self._at : decoded.end])
            return decoded

    def pass_to_line_with(self, starts: str) -> bool:
        """Skip the rest of this line and all lines that begin with none of these characters; False: none does."""
        begins = re.compile(f"\n[{re.escape(starts)}]")
        while True:
            found = begins.search(self._text, self._at)
            if found is not None:
                self.pass_over(self._text[self._at : found.start() + 1])
                return True
            self.pass_over(self._text[self._at : -1] if len(self._text) > self._at else "")
            if not self._read_more():
                return False

    def _too_long(self) -> JsonSyntaxError:
        expected = f"an element of at most {self._max_characters:,} characters"
        return JsonSyntaxError(Problem("element", self.excerpt(), expected, "Split the row."), is_cut_off=False)

    def _may_grow(self) -> bool:
        """Read on, as much again as is there; False at the end and at the limit."""
        length = len(self._text) - self._at
        if length > self._max_characters:
            return False
        # Small blocks, each joined to a long text, would copy it again and again.
        has_more = self._read_more(length)
        while has_more and len(self._text) - self._at < 2 * length:
            has_more = self._read_more(length) and has_more
        return has_more or len(self._text) - self._at > length

    def _read_more(self, num_bytes: int = 0) -> bool:
        if self._is_ended:
            return False
        data = self._source.stream.read1(max(_BLOCK_BYTES, num_bytes))  # type: ignore[attr-defined]
        self._is_ended = not data
        self._num_bytes += len(data)
        if self._is_first:
            data, self._is_first = data.removeprefix(UTF8_BOM), False
        self._text, self._at = self._text[self._at :] + self._decode_block(data), 0
        return not self._is_ended

    def _decode_block(self, data: bytes) -> str:
        held = self._utf8.getstate()[0]
        try:
            return self._newlines.decode(self._utf8.decode(data, final=not data), final=not data)
        except UnicodeDecodeError as error:
            data = held + data
            good = self._newlines.decode(data[: error.start].decode("utf-8"), final=True)
            line = self._line + self._text.count("\n", self._at) + good.count("\n")
            fault = bad_bytes_fault(Place(self._source.name, line), data, start=error.start)
            byte = f"byte {self._num_bytes - len(data) + error.start + 1} of the file (0x{data[error.start]:02X})"
            self.bad_bytes = dataclasses.replace(fault, column=byte)
            self._is_ended = True
            return good


Values = Iterator[tuple[Place, Decoded]]


def read_values(text: OpenText, read_one: Callable[[OpenText, str], Values], *, starts: str, faults: Faults) -> Values:
    """What `read_one` takes from the text and its next character, again and again until the end.

    After broken JSON reading goes on at the next line that begins with one of `starts`. Where there is none, the rest
    of the file cannot be read: an error even where bad rows are skipped.
    """
    while (character := text.next_character()) != "":
        try:
            yield from read_one(text, character)
        except JsonSyntaxError as error:
            fault = text.bad_bytes or error.problem.at(text.place)
            if not text.pass_to_line_with(starts):
                faults.refuse(fault)
            faults.add(fault)
    if text.bad_bytes:
        faults.refuse(text.bad_bytes)


def read_elements(text: OpenText) -> Values:
    """Each element with the place it begins at; the bracket that opens the array has been passed over."""
    if text.next_character() == "]":
        text.pass_over("]")
        return
    while True:
        text.next_character()
        place = text.place
        yield place, text.decode()
        character = text.next_character()
        if character not in (",", "]"):
            raise expected(text, ", or ] after an element")
        text.pass_over(character)
        if character == "]":
            return


def expected(text: OpenText, what: str, advice: str = "") -> JsonSyntaxError:
    """The error of a text that goes on with something else than `what`."""
    shown = text.excerpt()
    advice = advice or "The JSON is broken or cut off here."
    problem = Problem("JSON" if shown else "end of the file", shown, what, advice)
    return JsonSyntaxError(problem, is_cut_off=not shown)
