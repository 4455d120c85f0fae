"""Texts on their way to predictions, a bounded part of their rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks import Codec
from ernie_pp.text import EncodedRows, Tokenizer


class Work(Protocol):
    """What `Predictor.begin` gives: `next` and `take` in turns, until there are no rows left, then `result`."""

    @property
    def progress(self) -> tuple[int, int]:
        """(done, of how many): rows, or questions."""
        ...

    def next(self, max_tokens: int) -> TokenRows | None:
        """The next rows, about so many tokens (padding not counted), one row at least; None: there are no more."""
        ...

    def take(self, answers: Sequence[Any]) -> None:
        """What decides for each of the rows that `next` gave last, in their order."""
        ...

    @property
    def is_done(self) -> bool:
        """Whether all rows have been taken."""
        ...

    def result(self) -> tuple[list[Any], np.ndarray]:
        """(one prediction a text, how many tokens the length limit took from each row)."""
        ...


class TextWork:
    """Texts, or pairs of texts, whose rows are tokenized at once."""

    def __init__(self, codec: Codec, texts: Sequence[str], rows: TokenRows, decoding: Any) -> None:
        self._codec, self._texts, self._rows, self._decoding = codec, texts, rows, decoding
        self._answers: list[Any] = []

    @property
    def progress(self) -> tuple[int, int]:
        """Rows that are answered, of all."""
        return len(self._answers), len(self._rows)

    def next(self, max_tokens: int) -> TokenRows | None:
        """The next rows in their order."""
        start, ends = len(self._answers), self._rows.row_starts
        if start == len(self._rows):
            return None
        end = int(np.searchsorted(ends, ends[start] + max_tokens, side="right")) - 1
        return self._rows.select(np.arange(start, max(end, start + 1)))

    def take(self, answers: Sequence[Any]) -> None:
        """Answers of the last rows."""
        self._answers.extend(answers)

    @property
    def is_done(self) -> bool:
        """Whether every row has its answer."""
        return len(self._answers) == len(self._rows)

    def result(self) -> tuple[list[Any], np.ndarray]:
        """Predictions of the texts."""
        decoded = self._codec.decode.decode(self._answers, self._rows, self._texts, self._decoding)
        return decoded, self._rows.num_cut


@dataclass(frozen=True)
class Questions:
    """Questions and the document of each, and how they are cut into windows."""

    texts: Sequence[str]
    documents: Sequence[str]
    tokenizer: Tokenizer
    text: Mapping[str, Any]


class QuestionWork:
    """Questions to documents: their windows are made as they are asked for, and their answers merged as they come."""

    def __init__(self, codec: Codec, questions: Questions, decoding: Any) -> None:
        self._codec, self._questions, self._decoding = codec, questions, decoding
        self._found: list[list[Any]] = [[] for _ in questions.texts]
        self._parts: Iterator[EncodedRows] | None = None
        self._part: EncodedRows | None = None

    @property
    def progress(self) -> tuple[int, int]:
        """Questions whose windows are all read, of all."""
        if self._parts is None:
            return 0, len(self._found)
        return len(self._found) if self._part is None else int(_texts_of(self._part).min()), len(self._found)

    def next(self, max_tokens: int) -> TokenRows | None:
        """Windows of the next questions; the first call decides how many tokens each part has."""
        if self._parts is None:
            self._parts = self._cut(max_tokens)
            self._part = next(self._parts, None)
        return None if self._part is None else TokenRows.from_encoded(self._part)

    def _cut(self, max_tokens: int) -> Iterator[EncodedRows]:
        asked, cut = self._questions, self._codec.features.encode_in_parts
        yield from cut(asked.texts, asked.documents, asked.tokenizer, asked.text, max_tokens=max_tokens)

    def take(self, answers: Sequence[Any]) -> None:
        """Answers of the last windows, merged with what their questions have already."""
        assert self._part is not None and self._parts is not None, "next was called"
        asked = _texts_of(self._part)
        for index, answer in zip(asked.tolist(), answers, strict=True):
            self._found[index].append(answer)
        merge, documents = self._codec.decode.merge_windows, self._questions.documents
        for index in np.unique(asked).tolist():
            self._found[index] = [merge(self._found[index], documents[index], self._decoding)]
        self._part = next(self._parts, None)

    @property
    def is_done(self) -> bool:
        """Whether every window has its answer."""
        return self._parts is not None and self._part is None

    def result(self) -> tuple[list[Any], np.ndarray]:
        """Answers to the questions; of a document nothing is cut."""
        decode, pairs = self._codec.decode.decode_question, zip(self._found, self._questions.documents, strict=True)
        return [decode(found, document, self._decoding) for found, document in pairs], np.zeros(len(self._found), int)


def _texts_of(part: EncodedRows) -> np.ndarray:
    assert part.text_index is not None, "rows are windows"
    return part.text_index
