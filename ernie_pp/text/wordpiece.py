"""From words to word pieces: the Rust WordPiece model, asked once a word."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from tokenizers.models import WordPiece

# PaddleNLP's limit: a longer word is one [UNK].
MAX_WORD_CHARACTERS = 100
# A stream of any length must not fill the memory with its words.
MAX_REMEMBERED_WORDS = 200_000

_NUM_CODES = 0x110000


class WordPieces:
    """Pieces of words, remembered: most words of a Chinese text are single characters, and words come again."""

    def __init__(self, model: WordPiece, *, unk_id: int) -> None:
        self._model = model
        self._unk_id = unk_id
        self._ids_of_characters = np.zeros(_NUM_CODES, np.int32)  # id + 1; 0: not asked yet
        self._remembered: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def ids_of_characters(self, codes: np.ndarray) -> np.ndarray:
        """The id of each one-character word."""
        unseen = codes[self._ids_of_characters[codes] == 0]
        for code in np.unique(unseen).tolist():
            self._ids_of_characters[code] = self._split(chr(code))[0][0] + 1
        return self._ids_of_characters[codes] - 1

    def split(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Number of pieces of each word, then all pieces' ids and their first characters' places in their words."""
        pieces = [self._remembered.get(word) or self._remember(word) for word in words]
        counts = np.fromiter((len(ids) for ids, _ in pieces), np.int64, len(pieces))
        total = int(counts.sum())
        ids = np.fromiter(chain.from_iterable(ids for ids, _ in pieces), np.int32, total)
        starts = np.fromiter(chain.from_iterable(starts for _, starts in pieces), np.int64, total)
        return counts, ids, starts

    def _remember(self, word: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        pieces = self._split(word)
        if len(self._remembered) >= MAX_REMEMBERED_WORDS:
            self._remembered = {}
        if len(word) <= MAX_WORD_CHARACTERS:
            self._remembered[word] = pieces
        return pieces

    def _split(self, word: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        if len(word) > MAX_WORD_CHARACTERS:
            return (self._unk_id,), (0,)
        # The model's own offsets count bytes.
        tokens = self._model.tokenize(word)
        starts, place = [], 0
        for token in tokens:
            starts.append(place)
            place += len(token.value) - (2 if place else 0)
        return tuple(token.id for token in tokens), tuple(starts)
