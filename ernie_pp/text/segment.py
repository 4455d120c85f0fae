"""Chinese words of a text, by jieba."""

from __future__ import annotations

import logging
import tempfile
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jieba


def words(text: str) -> list[tuple[int, int]]:
    """Start and end (exclusive), in code points of `text`, of each word, in order; blanks and line breaks are none.

    The words of a search: their sequence covers everything else of the text, once.
    """
    return [(start, end) for word, start, end in _segmenter().tokenize(text) if not word.isspace()]


@cache
def _segmenter() -> jieba.Tokenizer:
    """A dictionary of our own, loaded when first needed (about a second), without jieba's messages."""
    import jieba

    jieba.setLogLevel(logging.WARNING)
    segmenter = jieba.Tokenizer()
    # jieba would read a cache from the machine's common temporary folder, where anyone may have put it.
    with tempfile.TemporaryDirectory() as folder:
        segmenter.tmp_dir = folder  # pyright: ignore[reportAttributeAccessIssue]
        segmenter.initialize()
    return segmenter
