"""Token files: one token and its tag a line, an empty line behind each text; and forms with a whole text in one line.

Tags are BIO, BIOES or BMES. The first column is the token, the last one its tag; TABs stand between them, or blanks
where there is no TAB. Nothing else is cut from a token: an ideographic space is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ernie_pp.data.entities.tags import is_legal_step, spans_of, split_tag
from ernie_pp.data.faults import Faults
from ernie_pp.data.readers.conll_layout import Layout, find_layout
from ernie_pp.data.readers.lines import Line, read_lines
from ernie_pp.data.readers.settings import ReadSettings, Source
from ernie_pp.data.rows import Fault, Place, Row

# Lines that are looked at to tell how a file is laid out.
NUM_LOOKED_AT = 400
_DOCUMENT_START = "-DOCSTART-"
_ADVICE = "Write a token, a TAB or blank, and its tag, such as B-ORG or O, in every line."


@dataclass
class _Text:
    """The tokens of one text as they are read."""

    tokens: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    is_sound: bool = True


def read_conll(source: Source, *, settings: ReadSettings, faults: Faults) -> Iterator[Row]:
    """Rows {"text", "entities", "tags"}; "tags" tells what is odd about them, for those who check entities.

    Tokens follow each other without a blank, but for two words of Latin letters or digits, each of more than one
    character, which have one between them.
    """
    lines = read_lines(source)
    looked_at = [line for _, line in zip(range(NUM_LOOKED_AT), lines, strict=False)]
    layout = find_layout([line.text for line in looked_at])
    before, has_ends = "", layout.has_ends
    for text in _texts(looked_at, lines, layout, source, faults):
        if text.is_sound and text.tokens:
            has_ends = has_ends or any(tag.startswith(("E-", "S-")) for tag in text.tags)
            yield _row(text, Place(source.name, text.lines[0]), before, has_ends=has_ends)
            before = text.tags[-1]
        elif not text.is_sound:
            before = ""


def _texts(
    first: Sequence[Line], rest: Iterable[Line], layout: Layout, source: Source, faults: Faults
) -> Iterator[_Text]:
    text = _Text()
    for line in (line for part in (first, rest) for line in part):
        place = Place(source.name, line.number)
        if line.fault is not None:
            faults.add(line.fault)
            text.is_sound = False
        elif layout.is_header(line.number):
            continue
        elif layout.is_one_line:
            if line.text.strip(" \t"):
                yield _one_line(line, layout, place, faults)
        elif not line.text.strip(" \t") or line.text.startswith(_DOCUMENT_START):
            yield text
            text = _Text()
        else:
            _add(text, line, layout, place, faults)
    yield text


def _one_line(line: Line, layout: Layout, place: Place, faults: Faults) -> _Text:
    """The text of a line that holds all of its tokens and all of its tags."""
    tokens, tags = layout.split_text(line.text)
    problem = next((tag for tag in tags if not is_tag(tag)), None)
    if not tokens or len(tokens) != len(tags):
        what = f"{len(tokens)} tokens and {len(tags)} tags"
        faults.add(Fault(place, "line", what, "as many tags as tokens", "Correct the line."))
    elif problem is not None:
        faults.add(_tag_fault(place, problem))
    elif (label := _empty_entity(tokens, tags)) is not None:
        faults.add(Fault(place, "line", label, "a token that is not empty in every entity", "Correct the line."))
    else:
        return _Text(tokens, tags, [line.number] * len(tokens))
    return _Text(is_sound=False)


def _empty_entity(tokens: Sequence[str], tags: Sequence[str]) -> str | None:
    """The label of an entity that has no character, where there is one."""
    return next((label for first, last, label in spans_of(tags) if not any(tokens[first:last])), None)


def _add(text: _Text, line: Line, layout: Layout, place: Place, faults: Faults) -> None:
    pair = layout.split_line(line.text)
    if pair is None:
        faults.add(Fault(place, "line", line.text, "a token and its tag", _ADVICE))
        text.is_sound = False
    elif not is_tag(pair[1]):
        faults.add(_tag_fault(place, pair[1]))
        text.is_sound = False
    else:
        text.tokens.append(pair[0])
        text.tags.append(pair[1])
        text.lines.append(line.number)


def is_tag(tag: str) -> bool:
    """Whether it is O, or a prefix of BIO, BIOES or BMES with a label behind a dash.

    A label may have blanks, but not a further tag behind one: such are the tags of several tokens.
    """
    first, *words = tag.split(" ")
    return (tag == "O" or _has_label(first)) and not any(word == "O" or _has_label(word) for word in words)


def _has_label(tag: str) -> bool:
    prefix, _, label = tag.partition("-")
    return prefix in ("B", "I", "M", "E", "S") and bool(label)


def _tag_fault(place: Place, tag: str) -> Fault:
    return Fault(place, "tag", tag, "O, or a prefix B I M E S with a label, such as B-ORG", _ADVICE)


def _row(text: _Text, place: Place, before: str, *, has_ends: bool) -> Row:
    starts, joined = _join(text.tokens)
    ends = [start + len(token) for start, token in zip(starts, text.tokens, strict=True)]
    entities = [
        {"start": starts[first], "end": ends[last - 1], "label": label} for first, last, label in spans_of(text.tags)
    ]
    is_cut = _goes_on(before, text.tags[0])
    cut = [[text.lines[0], text.tags[0]]] if is_cut else []
    illegal = _illegal(text, has_ends=has_ends)
    odd = {"cut": cut, "illegal": illegal[1:] if is_cut else illegal}
    return Row(place, {"text": joined, "entities": entities, "tags": odd})


def _join(tokens: Sequence[str]) -> tuple[list[int], str]:
    """Where each token starts, and the text."""
    starts, text, before = [], "", ""
    for token in tokens:
        text += " " if _is_word(before) and _is_word(token) else ""
        starts.append(len(text))
        text += token
        before = token
    return starts, text


def _is_word(token: str) -> bool:
    return len(token) > 1 and token.isascii() and token.isalnum()


def _goes_on(before: str, tag: str) -> bool:
    """Whether a text begins in the middle of the entity that the one before ended in."""
    (prefix, label), (own, own_label) = split_tag(before), split_tag(tag)
    return prefix in ("B", "I") and own in ("I", "E") and label == own_label


def _illegal(text: _Text, *, has_ends: bool) -> list[list[object]]:
    """[line, tag, tag before it] of every step that the scheme does not have."""
    found: list[list[object]] = []
    before = "O"
    for line, tag in zip([*text.lines, text.lines[-1]], [*text.tags, "O"], strict=True):
        if not is_legal_step(before, tag, has_ends=has_ends):
            found.append([line, tag, before])
        before = tag
    return found
