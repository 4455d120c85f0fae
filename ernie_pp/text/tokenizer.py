"""ERNIE's tokens of a text, with their places in the text as the user gave it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import tokenizers
from tokenizers.models import WordPiece

from ernie_pp.bounded import read_json, read_text
from ernie_pp.choices import Truncate
from ernie_pp.durable import write_json, write_text
from ernie_pp.errors import DataError, ModelError
from ernie_pp.text.characters import CharacterTable
from ernie_pp.text.encoding import EncodedRows, Encoding, join_rows
from ernie_pp.text.normalize import Normalization, NormalizedText, normalize
from ernie_pp.text.pieces import Pieces, cut_into_pieces
from ernie_pp.text.portable import build_portable, tokens_of
from ernie_pp.text.rows import RowRules, build_rows, row_lengths
from ernie_pp.text.vocabulary import MAX_BYTES, SPECIAL_TOKENS, read_vocab, write_vocab
from ernie_pp.text.wordpiece import WordPieces

VOCAB_FILE, PORTABLE_FILE, SETTINGS_FILE = "vocab.txt", "tokenizer.json", "text.json"
# Characters worked on at once; bounds the memory for any number of rows.
BATCH_CHARACTERS = 2**19
_MAX_PORTABLE_BYTES, _MAX_SETTINGS_BYTES = 2 * MAX_BYTES, 1 << 20
_SURROGATE = re.compile("[\ud800-\udfff]")


class Tokenizer:
    """The same ids as PaddleNLP's ErnieTokenizer, many texts at once, with exact places.

    A text that contains "[MASK]" or another special token's name is text: it gives the pieces "[", "mask", "]", as
    `ErnieTokenizer(vocab_file)` has it, and only this class puts special tokens into a row. (PaddleNLP's
    `from_pretrained` lets a user's text make real special tokens; we do not follow it there.) Places are those of
    `Pieces`.
    """

    def __init__(self, portable: tokenizers.Tokenizer, *, normalization: Normalization | None = None) -> None:
        self._portable = portable
        self.normalization = normalization or Normalization()
        ids = {token: portable.token_to_id(token) for token in SPECIAL_TOKENS}
        self.pad_id, self.cls_id, self.sep_id, self.unk_id, self.mask_id = ids.values()
        self.vocab_size: int = portable.get_vocab_size()
        self._characters = CharacterTable()
        self._word_pieces = WordPieces(portable.model, unk_id=self.unk_id)

    @classmethod
    def from_vocab(cls, path: str | Path, *, normalization: Normalization | None = None) -> Tokenizer:
        """A tokenizer with the vocabulary file `path`."""
        return cls(build_portable(read_vocab(path)), normalization=normalization)

    @classmethod
    def from_folder(cls, folder: str | Path) -> Tokenizer:
        """The tokenizer that `save` wrote to `folder`."""
        return cls(
            _read_portable(Path(folder) / PORTABLE_FILE),
            normalization=_read_normalization(Path(folder) / SETTINGS_FILE),
        )

    def save(self, folder: str | Path) -> None:
        """Write vocab.txt (PaddleNLP reads it), tokenizer.json and text.json to `folder`, made if it is not there."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_vocab(tokens_of(self._portable), folder / VOCAB_FILE)
        write_text(folder / PORTABLE_FILE, self._portable.to_str())
        write_json(folder / SETTINGS_FILE, {"normalization": asdict(self.normalization)})

    def tokens(self) -> tuple[str, ...]:
        """The vocabulary, in the order of the ids."""
        return tokens_of(self._portable)

    def encode(
        self, texts: Sequence[str], pairs: Sequence[str] | None = None, *, max_length: int, truncate: Truncate
    ) -> list[Encoding]:
        """One encoding a text, or a pair of `texts[i]` and `pairs[i]`; raises DataError under truncate `error`."""
        return self.encode_rows(texts, pairs, max_length=max_length, truncate=truncate, offsets=True).encodings()

    def encode_rows(
        self,
        texts: Sequence[str],
        pairs: Sequence[str] | None = None,
        *,
        max_length: int,
        truncate: Truncate,
        offsets: bool = False,
    ) -> EncodedRows:
        """As `encode`, all rows in one record, for sets of any size; without offsets where those are not asked for."""
        parts = []
        for start, end in _batches(texts, pairs):
            rules = RowRules(self.cls_id, self.sep_id, max_length, truncate, offsets, first_row=start)
            parts.append(build_rows(*self._cut_rows(texts, pairs, start, end), rules=rules))
        return join_rows(parts)

    def count_tokens(self, texts: Sequence[str], pairs: Sequence[str] | None = None) -> np.ndarray:
        """Tokens of each row before any cut, [CLS] and [SEP] counted; int64 [rows]."""
        parts = [row_lengths(*self._cut_rows(texts, pairs, start, end)) for start, end in _batches(texts, pairs)]
        return np.concatenate(parts)

    def _cut_rows(
        self, texts: Sequence[str], pairs: Sequence[str] | None, start: int, end: int
    ) -> tuple[Pieces, Pieces | None]:
        try:
            return self._cut(texts[start:end]), None if pairs is None else self._cut(pairs[start:end])
        except UnicodeEncodeError as error:
            raise _surrogate_error(texts, pairs, start, end) from error

    def _cut(self, texts: Sequence[str]) -> Pieces:
        if not self.normalization.is_on:
            return cut_into_pieces(texts, characters=self._characters, word_pieces=self._word_pieces)
        normalized = [normalize(text, self.normalization) for text in texts]
        pieces = cut_into_pieces(
            [one.text for one in normalized], characters=self._characters, word_pieces=self._word_pieces
        )
        return _in_raw_text(pieces, normalized, texts=texts)


def _batches(texts: Sequence[str], pairs: Sequence[str] | None) -> Iterator[tuple[int, int]]:
    """Runs of rows of about BATCH_CHARACTERS; one empty run for no rows."""
    if pairs is not None and len(pairs) != len(texts):
        raise ValueError(f"{len(texts)} texts but {len(pairs)} second texts")
    start, size = 0, 0
    for index, text in enumerate(texts):
        size += len(text) + (0 if pairs is None else len(pairs[index]))
        if size >= BATCH_CHARACTERS:
            yield start, index + 1
            start, size = index + 1, 0
    if start < len(texts) or not len(texts):
        yield start, len(texts)


def _surrogate_error(texts: Sequence[str], pairs: Sequence[str] | None, start: int, end: int) -> DataError:
    """What to say of the first row in the run that holds half a surrogate pair."""
    for index in range(start, end):
        for name, rows in (("text", texts), ("second text", pairs or ())):
            found = _SURROGATE.search(rows[index]) if rows else None
            if found:
                return DataError(
                    f"row {index} (counted from 0), character {found.start()} of the {name}",
                    f"U+{ord(found.group()):04X} is half of a surrogate pair, not a character",
                    "Repair the encoding of the text, or remove the character.",
                )
    raise AssertionError("UTF-32 refuses surrogates only")


def _in_raw_text(pieces: Pieces, normalized: list[NormalizedText], *, texts: Sequence[str]) -> Pieces:
    """The pieces of normalized texts with their places in the raw texts."""
    starts, ends, bounds = pieces.starts.copy(), pieces.ends.copy(), pieces.row_starts.tolist()
    for text, one, start, end in zip(texts, normalized, bounds, bounds[1:], strict=False):
        if len(one.text) < len(text):
            starts[start:end] = one.starts[starts[start:end]]
            ends[start:end] = one.ends[ends[start:end] - 1]
    return Pieces(pieces.ids, starts, ends, pieces.row_starts)


def _read_portable(path: Path) -> tokenizers.Tokenizer:
    text = read_text(path, max_bytes=_MAX_PORTABLE_BYTES, error=ModelError, do="Export the model again.")
    try:
        portable = tokenizers.Tokenizer.from_str(text)
    except Exception as error:  # the library raises bare Exception
        raise ModelError(str(path), f"is not a tokenizer file: {error}", "Export the model again.") from error
    if not isinstance(portable.model, WordPiece):
        kind = type(portable.model).__name__
        raise ModelError(str(path), f"has a {kind} model, not WordPiece", "Export the model again.")
    missing = [token for token in SPECIAL_TOKENS if portable.token_to_id(token) is None]
    if missing:
        raise ModelError(str(path), f"has no {' '.join(missing)}", "Export the model again.")
    return portable


def _read_normalization(path: Path) -> Normalization:
    settings = read_json(path, max_bytes=_MAX_SETTINGS_BYTES, error=ModelError, do="Export the model again.")
    try:
        return Normalization(**settings["normalization"])  # type: ignore[index]
    except (TypeError, KeyError) as error:
        raise ModelError(str(path), f"cannot be read as text settings: {error}", "Export the model again.") from error
