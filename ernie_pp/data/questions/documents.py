"""The documents of question files: their texts, one record each, and ids for what comes without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from ernie_pp.bounded import read_text
from ernie_pp.data.faults import excerpt
from ernie_pp.data.questions.question import Document
from ernie_pp.data.readers.strict_json import Problem
from ernie_pp.errors import DataError
from ernie_pp.text.invisible import is_blank

# Where a document's text stands, whatever the layout, and the name of a file with it.
TEXT_FIELDS, FILE_FIELD = ("context", "context_text"), "file"
MAX_FILE_BYTES = 16 << 20
# Questions to one document mostly come one after the other.
_MOST_FILES = 4
# Path, id of its own, digest of the text.
_Key = tuple[str, str, bytes]


class Documents:
    """One record for each document, however many rows ask it.

    Texts are held no longer than their questions are, so that rows of any number may be read one after the other.
    """

    def __init__(self) -> None:
        self._known: WeakValueDictionary[_Key, Document] = WeakValueDictionary()
        self._names: dict[_Key, str] = {}
        self._ids: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._num_questions: Counter[str] = Counter()
        self._text_of_path = lru_cache(maxsize=_MOST_FILES)(_read_file)

    def record(self, text: str, *, path: str, own_id: str, title: str) -> Document:
        """The record of a text; one without an id of its own is named by file and number."""
        key = (path, own_id, blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())
        if key not in self._names:
            number = len(self._names) + 1
            self._names[key] = self._unused(own_id or f"{Path(path).name}-{number}")
            self._numbers[self._names[key]] = number
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Document(self._names[key], text, title)
        return found

    def next_question_id(self, document: Document, *, path: str) -> str:
        """The id of a question that has none: file, number of the document, number of the question."""
        self._num_questions[document.id] += 1
        return f"{Path(path).name}-{self._numbers[document.id]}-{self._num_questions[document.id]}"

    def text_of(self, fields: Mapping[str, Any], *, path: str) -> str | Problem:
        """The text that fields give or name a file of."""
        name = next((one for one in TEXT_FIELDS if one in fields), None)
        if name is None and FILE_FIELD not in fields:
            shown = ", ".join(map(str, fields))
            return Problem("fields", shown, f'"{TEXT_FIELDS[0]}" or "{FILE_FIELD}"', "Give the document's text.")
        text = self._text_of_file(fields[FILE_FIELD], path) if name is None else fields[name]
        if isinstance(text, Problem):
            return text
        if not isinstance(text, str) or is_blank(text):
            advice = "Give the document's text, or leave its questions out."
            return Problem(name or FILE_FIELD, excerpt(text), "a text that is not empty", advice)
        if "\0" in text:  # the readers of JSON refuse it too
            shown = text[max(0, text.index("\0") - 20) :]
            return Problem(name or FILE_FIELD, shown, "a text without NUL", "Is it a text file? Remove the character.")
        return text

    def _text_of_file(self, name: Any, path: str) -> str | Problem:
        expected = "the path of a text file in the folder of the questions, or below it"
        advice = "Put the file there, and write its path from there."
        if not isinstance(name, str) or not name or "\0" in name:
            return Problem(FILE_FIELD, excerpt(name), expected, advice)
        folder = Path(path).parent
        try:
            file, root = (folder / name).resolve(), folder.resolve()
        except (OSError, RuntimeError):  # a link that leads to itself
            return Problem(FILE_FIELD, name, expected, advice)
        if not file.is_relative_to(root):
            return Problem(FILE_FIELD, name, expected, advice)
        try:
            return self._text_of_path(file)
        except DataError as error:
            return Problem(FILE_FIELD, name, f"a text file in UTF-8: {error.what}", error.do or advice)

    def _unused(self, name: str) -> str:
        """The name, with a number behind it where another document has it."""
        unused, number = name, 1
        while unused in self._ids:
            number += 1
            unused = f"{name}-{number}"
        self._ids.add(unused)
        return unused


def _read_file(path: Path) -> str:
    return read_text(path, max_bytes=MAX_FILE_BYTES, error=DataError)
