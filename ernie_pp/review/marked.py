"""A text with its mentions marked, as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ernie_pp.data.entities.document import Mention
from ernie_pp.report.values import escape_text, escape_visibly

NUM_COLOURS = 12


@dataclass(frozen=True)
class _Mark:
    """One mention and what its elements say: the anchor of its first piece, its colour and its tooltip."""

    mention: Mention
    anchor: str
    kind: int


def number_labels(mentions: Sequence[Mention]) -> dict[str, int]:
    """A number a label, in the order of their first mentions."""
    return {label: number for number, label in enumerate(dict.fromkeys(one.label for one in sorted(mentions)))}


def anchors(mentions: Sequence[Mention]) -> dict[Mention, str]:
    """The name of each mention's place in the page, in order of their places."""
    return {mention: f"m{number}" for number, mention in enumerate(dict.fromkeys(_ordered(mentions)), start=1)}


def mark_text(text: str, mentions: Sequence[Mention], kinds: Mapping[str, int]) -> str:
    """The whole text, escaped, each mention in a `mark`; nested ones within, crossing ones in pieces."""
    names = anchors(mentions)
    marks = [_Mark(mention, names[mention], kinds[mention.label]) for mention in names]
    return "".join(_pieces(text, marks))


def colour_of(number: int) -> int:
    """The colour of a label's number; there are more labels than colours."""
    return number % NUM_COLOURS


def _ordered(mentions: Sequence[Mention]) -> list[Mention]:
    """By place, an outer one before what is in it."""
    return sorted(mentions, key=lambda one: (one.start, -one.end, one))


def _pieces(text: str, marks: list[_Mark]) -> Iterator[str]:
    open_marks: list[_Mark] = []
    waiting, place = list(reversed(marks)), 0
    for border in sorted({edge for mark in marks for edge in (mark.mention.start, mark.mention.end)}):
        yield escape_visibly(text[place:border])
        place = border
        yield from _close(open_marks, border)
        while waiting and waiting[-1].mention.start == border:
            yield _open(waiting[-1], open_marks, is_first=True)
            open_marks.append(waiting.pop())
    yield escape_visibly(text[place:])


def _close(open_marks: list[_Mark], border: int) -> Iterator[str]:
    """Close what ends here; what began later and goes on is closed too and opened again."""
    ending = [index for index, mark in enumerate(open_marks) if mark.mention.end == border]
    if not ending:
        return
    yield "</mark>" * (len(open_marks) - ending[0])
    again = [mark for mark in open_marks[ending[0] :] if mark.mention.end > border]
    del open_marks[ending[0] :]
    for mark in again:
        yield _open(mark, open_marks, is_first=False)
        open_marks.append(mark)


def _open(mark: _Mark, outer: list[_Mark], *, is_first: bool) -> str:
    mention = mark.mention
    # What holds this mark and ends before it cuts it: its label is shown once, behind the last piece.
    part = " part" if any(one.mention.end < mention.end for one in outer) else ""
    told = escape_text(f"{mention.label} · {mention.score:.2f} · {mention.source}")
    anchor = f' id="{mark.anchor}" tabindex="-1"' if is_first else ""
    label = escape_text(mention.label)
    colour = f"c{colour_of(mark.kind)}{part}"
    return f'<mark class="{colour}"{anchor} data-kind="{mark.kind}" title="{told}" data-label="{label}">'
