"""A vocabulary for an ERNIE that starts from random weights: the standard characters and what the user's texts use."""

from __future__ import annotations

import json
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from ernie_pp.bounded import read_text
from ernie_pp.errors import DataError
from ernie_pp.text.characters import KEPT, CharacterTable, classify
from ernie_pp.text.pieces import cut_into_words

Table = Literal["gb2312", "gbk", "none"]

_FIRST_TOKENS = ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]")
_FULL_WIDTH = "".join(chr(code) for code in (*range(0xFF01, 0xFF5F), *range(0xFFE0, 0xFFE7)))
_CJK_PUNCTUATION = "".join(chr(code) for code in range(0x3001, 0x3040)) + "—…‘’“”·•～※○●◎★☆■□▲△→←↑↓℃‰±×÷"
# Longer words are names and numbers of one text; they come as several pieces.
_MAX_WORD_CHARACTERS = 20
_LINES_AT_ONCE = 5_000
# Of one file of texts, which is held in memory.
MAX_BYTES = 512 << 20


def build_vocabulary(
    texts: Iterable[str], *, min_count: int = 2, table: Table = "gb2312", max_words: int = 5_000
) -> tuple[str, ...]:
    """Tokens in the order of their ids; the same texts give the same tokens.

    Special tokens; ASCII and full-width letters, digits and punctuation, with the "##" piece of each letter and
    digit; the characters of `table`; then every other character the texts have at least `min_count` times (inside
    words as a "##" piece), and their words of several characters (Latin, numbers), the `max_words` most frequent.
    """
    tokens: dict[str, None] = dict.fromkeys(_FIRST_TOKENS)
    tokens.update(dict.fromkeys(_standard_tokens(table)))
    words = _count_words(texts)
    tokens.update(dict.fromkeys(_frequent(_count_characters(words), min_count=min_count)))
    frequent_words = (word for word in _frequent(words, min_count=min_count) if 1 < len(word) <= _MAX_WORD_CHARACTERS)
    tokens.update(dict.fromkeys(word for word, _ in zip(frequent_words, range(max_words), strict=False)))
    return tuple(tokens)


def table_characters(table: Table) -> str:
    """The characters of a Chinese standard, in the standard's order.

    gb2312: symbols, then 3,755 characters of level 1 and 3,008 of level 2; gbk: those and the rest of its 20,902
    ideographs, traditional ones among them.
    """
    if table == "none":
        return ""
    gb2312 = "".join(_decode(row, cell, codec="gb2312") for row in range(0xA1, 0xF8) for cell in range(0xA1, 0xFF))
    if table == "gb2312":
        return gb2312
    gbk = (_decode(row, cell, codec="gbk") for row in range(0x81, 0xFF) for cell in range(0x40, 0xFF))
    return gb2312 + "".join(char for char in gbk if "\u4e00" <= char <= "\u9fa5")


def read_texts(path: str | Path) -> Iterator[str]:
    """The texts of a file of any layout: the strings of JSON (lines, or one value), else the lines as they stand."""
    path = Path(path)
    advice = "Give texts in UTF-8, and of many a part: a vocabulary needs no more."
    text = read_text(path, max_bytes=MAX_BYTES, error=DataError, do=advice)
    whole = _json_value(text) if path.suffix == ".json" else None
    if whole is not None:
        yield from _strings(whole)
        return
    for line in text.split("\n"):
        value = _json_value(line) if line.startswith(("{", "[")) else None
        yield from (line,) if value is None else _strings(value)


def _standard_tokens(table: Table) -> Iterator[str]:
    wide = _FULL_WIDTH + _CJK_PUNCTUATION
    for chars in (string.punctuation + string.digits + string.ascii_lowercase, wide, table_characters(table)):
        forms = [form for char in chars for form in _normal_characters(char)]
        yield from forms
        yield from (f"##{form}" for form in forms if _stands_in_words(form))


def _normal_characters(char: str) -> str:
    kind, form = classify(char)
    return form if kind == KEPT else ""


def _stands_in_words(char: str) -> bool:
    """Letters and digits of ASCII and their full-width forms: words of them are cut into pieces."""
    plain = unicodedata.normalize("NFKC", char)
    return plain.isascii() and plain.isalnum()


def _decode(row: int, cell: int, *, codec: str) -> str:
    return bytes((row, cell)).decode(codec, errors="ignore")


def _count_words(texts: Iterable[str]) -> Counter[str]:
    characters = CharacterTable()
    words: Counter[str] = Counter()
    some: list[str] = []
    for text in texts:
        some.append(text)
        if len(some) == _LINES_AT_ONCE:
            words.update(cut_into_words(some, characters=characters))
            some = []
    words.update(cut_into_words(some, characters=characters))
    return words


def _count_characters(words: Counter[str]) -> Counter[str]:
    """Characters that begin words as they are, those inside words as "##" pieces."""
    characters: Counter[str] = Counter()
    for word, count in words.items():
        characters[word[0]] += count
        for char in word[1:]:
            characters[f"##{char}"] += count
    return characters


def _frequent(counts: Counter[str], *, min_count: int) -> list[str]:
    """Most frequent first, ties in code point order."""
    chosen = [(-count, item) for item, count in counts.items() if count >= min_count]
    return [item for _, item in sorted(chosen)]


def _json_value(text: str) -> object | None:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _strings(value: object) -> Iterator[str]:
    """All strings in a JSON value, keys left out; without recursion, for it may be deep."""
    rest = [value]
    while rest:
        item = rest.pop()
        if isinstance(item, str):
            yield item.encode("utf-8", "replace").decode("utf-8")
        elif isinstance(item, dict):
            rest.extend(reversed(item.values()))
        elif isinstance(item, list):
            rest.extend(reversed(item))
