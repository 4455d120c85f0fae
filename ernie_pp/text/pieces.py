"""Texts cut into word pieces, a batch at a time, each piece with the characters it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ernie_pp.text.characters import BLANK, KEPT, MARK, CharacterTable
from ernie_pp.text.wordpiece import WordPieces


@dataclass(frozen=True)
class Pieces:
    """The pieces of several texts on end, without special tokens: text i has `row_starts[i]:row_starts[i + 1]`.

    `starts` and `ends` count code points of the text the piece is from. Neighbouring pieces never overlap, but for
    one case: a character that is taken apart (a Hangul syllable into its letters) may give several pieces, which
    then share it. A combining mark that the tokenizer strips belongs to the piece of its base character. No piece
    has blanks, control characters (zero-width and direction marks among them) or a mark that follows no character,
    unless they stand inside it.
    """

    ids: np.ndarray  # int32 [pieces]
    starts: np.ndarray  # int32 [pieces]
    ends: np.ndarray  # int32 [pieces], exclusive
    row_starts: np.ndarray  # int64 [texts + 1]


def cut_into_pieces(texts: Sequence[str], *, characters: CharacterTable, word_pieces: WordPieces) -> Pieces:
    """Cut as PaddleNLP's ErnieTokenizer does: clean, lower, strip accents, split on symbols, greedy WordPiece.

    Half a surrogate pair is no character; it raises UnicodeEncodeError.
    """
    bounds = _bounds(texts)
    words = _words(_codes(texts), bounds=bounds, characters=characters)
    ids, piece_starts = _split_words(words, word_pieces)
    starts = words.sources[piece_starts]
    ends = words.ends_with_marks[words.sources[_ends_of(piece_starts, words.normal) - 1]]
    row_starts = np.searchsorted(starts, bounds)
    shift = np.repeat(bounds[:-1], np.diff(row_starts))
    return Pieces(ids, (starts - shift).astype(np.int32), (ends - shift).astype(np.int32), row_starts)


def cut_into_words(texts: Sequence[str], *, characters: CharacterTable) -> list[str]:
    """The words of all texts on end, in normal form, as they go into WordPiece."""
    words = _words(_codes(texts), bounds=_bounds(texts), characters=characters)
    text = words.normal.tobytes().decode("utf-32-le")
    ends = _ends_of(words.word_starts, words.normal).tolist()
    return [text[start:end] for start, end in zip(words.word_starts.tolist(), ends, strict=True)]


@dataclass(frozen=True)
class _Words:
    """The kept characters of a batch in normal form, and the words they make."""

    normal: np.ndarray  # uint32 [characters], code points
    sources: np.ndarray  # int64 [characters], place in the batch each came from
    ends_with_marks: np.ndarray  # int64 [raw characters], end of each with the marks it carries
    word_starts: np.ndarray  # int64 [words], places in `normal`


def _words(codes: np.ndarray, *, bounds: np.ndarray, characters: CharacterTable) -> _Words:
    characters.learn(codes)
    normal, sources, alone = _normal_form(codes, characters)
    groups, ends_with_marks = _group(characters.kinds[codes], text_starts=bounds[:-1])
    return _Words(normal, sources, ends_with_marks, _word_starts(groups[sources], alone))


def _ends_of(starts: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Ends of runs that follow each other without a gap."""
    return np.append(starts[1:], len(normal))[: len(starts)]


def _bounds(texts: Sequence[str]) -> np.ndarray:
    """Where each text begins and the last one ends when they stand on end."""
    return np.cumsum([0, *map(len, texts)], dtype=np.int64)


def _codes(texts: Sequence[str]) -> np.ndarray:
    return np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)


def _normal_form(codes: np.ndarray, characters: CharacterTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All kept characters in normal form, the place in `codes` of each, and whether it stands alone."""
    lengths = characters.lengths[codes]
    kept = np.flatnonzero(lengths)
    lengths = lengths[kept].astype(np.int64)
    sources = np.repeat(kept, lengths)
    within = np.arange(len(sources)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    places = characters.firsts[codes[sources]] + within
    return characters.forms[places], sources, characters.alone[places]


def _group(kinds: np.ndarray, *, text_starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each character the number of breaks (blank, new text) up to it, and its end with the marks it carries."""
    breaks = kinds == BLANK
    breaks[text_starts[text_starts < len(kinds)]] = True
    groups = np.cumsum(breaks)
    ends = np.arange(1, len(kinds) + 1)
    marks = np.flatnonzero(kinds == MARK)
    if len(marks):
        kept = np.flatnonzero(kinds == KEPT)
        bases = np.searchsorted(kept, marks) - 1
        marks, bases = marks[bases >= 0], kept[bases[bases >= 0]]
        same = groups[marks] == groups[bases]
        # Marks ascend, and of several values for one place the last stays: the base's last mark.
        ends[bases[same]] = marks[same] + 1
    return groups, ends


def _word_starts(groups: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """Places in the normal form where a word begins."""
    if not len(alone):
        return np.zeros(0, np.int64)
    begins = alone.copy()
    begins[0] = True
    begins[1:] |= alone[:-1] | (groups[1:] != groups[:-1])
    return np.flatnonzero(begins)


def _split_words(words: _Words, word_pieces: WordPieces) -> tuple[np.ndarray, np.ndarray]:
    """The ids of all pieces and the place in the normal form where each begins."""
    normal, word_starts = words.normal, words.word_starts
    word_ends = _ends_of(word_starts, normal)
    is_long = word_ends - word_starts > 1
    text = normal.tobytes().decode("utf-32-le")
    bounds = zip(word_starts[is_long].tolist(), word_ends[is_long].tolist(), strict=True)
    long_counts, long_ids, long_places = word_pieces.split([text[start:end] for start, end in bounds])
    counts = np.ones(len(word_starts), np.int64)
    counts[is_long] = long_counts
    of_long = np.repeat(is_long, counts)
    ids = np.empty(len(of_long), np.int32)
    ids[~of_long] = word_pieces.ids_of_characters(normal[word_starts[~is_long]])
    ids[of_long] = long_ids
    piece_starts = np.repeat(word_starts, counts)
    piece_starts[of_long] += long_places
    return ids, piece_starts
