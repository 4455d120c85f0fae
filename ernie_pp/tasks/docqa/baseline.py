"""Two plain methods that answer without learning, so that a model's figures have something to stand beside."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

Span = tuple[int, int]
NOTHING: Span = (0, 0)
# Shorter ones than this say nothing about where a question belongs.
MIN_COMMON = 2
# Documents whose index is kept: questions to one document mostly come one after the other.
_MOST_INDEXES = 4
_SENTENCES = re.compile(r"[^。！？!?；;…\n\r]+")
# A comma inside 1,000 ends no clause; a sentence does.
_BORDERS = re.compile(r"[。！？!?；;…\n\r，]|(?<!\d),|,(?!\d)")
_AT_EDGES = " \t\u3000\xa0”’」』》）】〉)]"
# Between what is asked for and its value: 金额为…, 金额：….
_LINKS = re.compile(r"[\s：:]*(?:[是为為系係即于於][\s：:]*)?")
_QUESTION_WORDS = (
    *("为什么", "為什麼", "為甚麼", "是不是", "有没有", "有沒有"),
    *("什么", "什麼", "甚麼", "多少", "多久", "多长", "多長", "多大", "怎么", "怎麼", "怎样", "怎樣", "如何"),
    *("哪里", "哪裡", "哪裏", "哪儿", "哪兒", "哪些", "哪个", "哪個", "哪一", "哪"),
    *("何时", "何時", "何地", "何处", "何處", "何人", "何种", "何種", "为何", "為何", "何"),
    *("是否", "能否", "可否", "请问", "請問", "谁", "誰", "几", "幾", "吗", "嗎", "呢"),
)
# What is left between them: letters, digits and Han characters.
_BETWEEN = re.compile(f"(?:{'|'.join(_QUESTION_WORDS)}|[^\\w]|_)+")


def nearest_sentence(question: str, text: str) -> Span:
    """Place of the sentence with most of the question's pairs of characters, rare ones counting more; the first of
    equally good ones, and an empty place where no sentence has any.
    """
    return _index_of(text).nearest_sentence(question)


def neighbourhood(question: str, text: str) -> Span:
    """Place of the rest of a clause beside the longest run of characters that question and text share.

    It is what follows up to the next border, or what comes before where nothing follows. Question words and
    punctuation are no part of the run. Where it occurs more than once, the sentence most like the question counts. An
    empty place where the two share no two characters in a row, or the clause has nothing else.
    """
    return _index_of(text).neighbourhood(question)


class DocumentIndex:
    """The sentences of one document and where their pairs of characters occur: built once, then asked often."""

    def __init__(self, text: str) -> None:
        self._text = _lower(text)
        self._sentences = [span for span in map(self._trimmed, _SENTENCES.finditer(text)) if span[0] < span[1]]
        self._starts = [start for start, _ in self._sentences]
        self._holders: dict[str, list[int]] = {}
        for number, (start, end) in enumerate(self._sentences):
            for pair in set(_pairs(self._text[start:end])):
                self._holders.setdefault(pair, []).append(number)

    def nearest_sentence(self, question: str) -> Span:
        """See the function of this name."""
        scores = self._scores(question)
        if not scores:
            return NOTHING
        return self._sentences[min(scores, key=lambda number: (-scores[number], number))]

    def neighbourhood(self, question: str) -> Span:
        """See the function of this name."""
        shared = self._longest_shared(question)
        if len(shared) < MIN_COMMON:
            return NOTHING
        scores = self._scores(question)
        start = max(self._places(shared), key=lambda place: scores.get(self._sentence_at(place), 0.0))
        return self._beside(start, start + len(shared))

    def _trimmed(self, match: re.Match[str]) -> Span:
        """The sentence without blanks, and without what closes the sentence before it."""
        sentence = match.group()
        start = match.start() + len(sentence) - len(sentence.lstrip(_AT_EDGES))
        return start, match.start() + len(sentence.rstrip())

    def _scores(self, question: str) -> dict[int, float]:
        """By sentence: the weights of the question's pairs it has, a pair's weight falling with the sentences."""
        scores: dict[int, float] = {}
        for pair in dict.fromkeys(_pairs(_lower(question))):
            holders = self._holders.get(pair, ())
            for number in holders:
                scores[number] = scores.get(number, 0.0) + math.log(1 + len(self._sentences) / len(holders))
        return scores

    def _longest_shared(self, question: str) -> str:
        best = ""
        for piece in filter(None, _BETWEEN.split(_lower(question))):
            for start in range(len(piece)):
                # Only a longer run is of interest; all beginnings of a shared run are shared too.
                while start + len(best) < len(piece) and piece[start : start + len(best) + 1] in self._text:
                    best = piece[start : start + len(best) + 1]
        return best

    def _places(self, shared: str) -> Iterator[int]:
        place = self._text.find(shared)
        while place >= 0:
            yield place
            place = self._text.find(shared, place + 1)

    def _sentence_at(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1

    def _beside(self, start: int, end: int) -> Span:
        """The rest of the clause behind `text[start:end]`, else what the clause has before it."""
        border = _BORDERS.search(self._text, end)
        behind = self._without_blanks(_links_end(self._text, end), border.start() if border else len(self._text))
        if behind != NOTHING:
            return behind
        first, last = self._sentences[self._sentence_at(start)]
        borders = [match.end() for match in _BORDERS.finditer(self._text, first, min(start, last))]
        return self._without_blanks(borders[-1] if borders else first, start)

    def _without_blanks(self, start: int, end: int) -> Span:
        part = self._text[start:end]
        if not part.strip(_AT_EDGES):
            return NOTHING
        return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


@lru_cache(maxsize=_MOST_INDEXES)
def _index_of(text: str) -> DocumentIndex:
    return DocumentIndex(text)


def _links_end(text: str, place: int) -> int:
    found = _LINKS.match(text, place)
    return found.end() if found else place


def _lower(text: str) -> str:
    """In small letters, character for character: a few would become two."""
    lowered = text.lower()
    return (
        lowered if len(lowered) == len(text) else "".join(one if len(one.lower()) > 1 else one.lower() for one in text)
    )


def _pairs(text: str) -> Iterator[str]:
    """Neighbouring letters, digits or Han characters."""
    for first, second in pairwise(text):
        if first.isalnum() and second.isalnum():
            yield first + second
