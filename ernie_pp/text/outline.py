"""Where in a document a place is, as a reader says it: its page, its paragraph, the clause around it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

MAX_CLAUSE = 120
# All that str.splitlines takes for the end of a line.
_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_PAGE_BREAK = re.compile("\x0c")
# The first character that is no blank, and with it the rest of its line.
_PARAGRAPH = re.compile(rf"\S[^{_BREAKS}]*")
_CLOSERS = "”’」』》）】〉)\\]\"'"
_SENTENCE_END = re.compile(rf"[{_BREAKS}]|[。！？!?…；;]+[{_CLOSERS}]*")
# A comma within 1,000 and a colon within 10:30 end nothing.
_CLAUSE_END = re.compile(rf"(?:(?<!\d)[，,、：:]|[，,、：:](?!\d))[{_CLOSERS}]*")


class Outline:
    """The pages, paragraphs and clauses of one text: built once in a walk over it, then each look-up is quick.

    Places are code points of the text. Form feeds separate pages; a paragraph is a line that is not blank.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._page_breaks = [match.start() for match in _PAGE_BREAK.finditer(text)]
        self._paragraphs = [match.start() for match in _PARAGRAPH.finditer(text)]
        ends = {match.end() for match in _SENTENCE_END.finditer(text)} | {0, len(text)}
        self._sentences = sorted(ends)
        self._clauses = sorted(ends.union(match.end() for match in _CLAUSE_END.finditer(text)))

    def page_of(self, place: int) -> int | None:
        """The page, counted from 1; None where the text has no form feed. A form feed ends the page it stands on."""
        return bisect_left(self._page_breaks, place) + 1 if self._page_breaks else None

    def paragraph_of(self, place: int) -> int:
        """The paragraph, counted from 1; blanks and blank lines belong to the one before them, the first ones to 1."""
        return max(1, bisect_right(self._paragraphs, place))

    def clause_around(self, start: int, end: int) -> tuple[int, int]:
        """Start and end of the sentence that holds `text[start:end]`, without blanks at its edges.

        Of one longer than `MAX_CLAUSE` characters: its clauses around the span, as many as fit, or as much of a longer
        clause. The span itself is always whole; one that is longer stands alone.
        """
        first, last = _range_around(self._sentences, start, end)
        if last - first > MAX_CLAUSE:
            first, last = self._clauses_around(start, end)
        return self._without_blanks(first, last, start, end)

    def _clauses_around(self, start: int, end: int) -> tuple[int, int]:
        """As much of the long sentence as fits: whole clauses, those before and behind in turn."""
        room = max(0, MAX_CLAUSE - (end - start))
        first, last = _range_around(self._clauses, start, end)
        if last - first > MAX_CLAUSE:
            # A clause near an edge leaves its share of the room to the other side.
            before = min(start - first, max(room // 2, room - (last - end)))
            return start - before, min(last, end + room - before)
        sentence = _range_around(self._sentences, start, end)
        before, behind = bisect_left(self._clauses, first) - 1, bisect_left(self._clauses, last) + 1
        while True:
            wider = (first, last)
            if first > sentence[0] and last - self._clauses[before] <= MAX_CLAUSE:
                first, before = self._clauses[before], before - 1
            if last < sentence[1] and self._clauses[behind] - first <= MAX_CLAUSE:
                last, behind = self._clauses[behind], behind + 1
            if wider == (first, last):
                return first, last

    def _without_blanks(self, first: int, last: int, start: int, end: int) -> tuple[int, int]:
        while first < start and self._text[first].isspace():
            first += 1
        while last > end and self._text[last - 1].isspace():
            last -= 1
        return first, last


def _range_around(borders: list[int], start: int, end: int) -> tuple[int, int]:
    """The nearest borders at or before `start`, and at or behind `end`."""
    return borders[bisect_right(borders, start) - 1], borders[bisect_left(borders, end)]
