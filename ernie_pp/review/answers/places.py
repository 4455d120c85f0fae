"""Where a candidate stands in its document, as a reader says it."""

from __future__ import annotations

from dataclasses import dataclass

from ernie_pp.tasks.docqa.prediction import FoundAnswer, outline_of


@dataclass(frozen=True)
class AnswerPlace:
    """A span with its page (None: the document has no pages), its paragraph and the clause around it.

    All are code points of the document's text.
    """

    start: int
    end: int
    page: int | None
    paragraph: int
    clause: tuple[int, int]

    @property
    def told(self) -> str:
        """第 2 页第 14 段."""
        page = "" if self.page is None else f"第 {self.page:,} 页"
        return f"{page}第 {self.paragraph:,} 段"


def place_of(found: FoundAnswer, text: str) -> AnswerPlace | None:
    """The place of a candidate in the document's text; None for yes and no, which have none."""
    if found.start is None or found.end is None:
        return None
    outline = outline_of(text)
    return AnswerPlace(
        start=found.start,
        end=found.end,
        page=outline.page_of(found.start),
        paragraph=outline.paragraph_of(found.start),
        clause=outline.clause_around(found.start, found.end),
    )
