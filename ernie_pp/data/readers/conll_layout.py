"""How a token file is laid out, told from its first lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Joins the tokens of a text in one line in some corpora.
_UNIT = "\x02"
# So many tokens that all end in a digit, the first one in 0, carry a segmentation mark.
_MOST_MARKED, _LEAST_MARKED = 200, 20
_DIGITS = "0123456789"


@dataclass(frozen=True)
class Layout:
    """`separator` joins the tokens of a line that holds a whole text, None: a line holds one token.

    `has_marks`: a number behind every token says where it stands in its word, and is no part of it. `has_ends`: the
    tags end every entity by E- or S-.
    """

    separator: str | None = None
    has_header: bool = False
    has_marks: bool = False
    has_ends: bool = False

    @property
    def is_one_line(self) -> bool:
        """Whether a line holds a whole text."""
        return self.separator is not None

    def is_header(self, number: int) -> bool:
        """Whether the line of this number, from 1, names the columns."""
        return self.has_header and number == 1

    def split_text(self, line: str) -> tuple[list[str], list[str]]:
        """(tokens, tags) of a line that holds a whole text: its last two columns."""
        columns = line.split("\t")
        if len(columns) < 2 or self.separator is None:
            return [], []
        return columns[-2].split(self.separator), columns[-1].strip(" ").split(self.separator)

    def split_line(self, line: str) -> tuple[str, str] | None:
        """(token, tag) of a line that holds one token; None where it lacks one of them."""
        pair = _columns(line)
        if pair is None or not self.has_marks:
            return pair
        token = _without_mark(pair[0])
        return None if token == pair[0] else (token, pair[1])


def find_layout(lines: Sequence[str]) -> Layout:
    """The layout of a file that begins with these lines."""
    shown = [line for line in lines if line.strip(" \t")]
    for separator in (_UNIT, " "):
        has_header = bool(shown) and _is_header(shown[0], separator)
        body = shown[has_header:]
        # Half of them: texts of one token look like tokens, and one odd line among tokens is no text.
        if body and 2 * sum(_is_text(line, separator) for line in body) >= len(body):
            tags = [tag for line in body for tag in line.split("\t")[-1].split(separator)]
            return Layout(separator, has_header, has_ends=_has_ends(tags))
    pairs = [pair for pair in map(_columns, shown) if pair is not None]
    tokens = [token for token, _ in pairs[:_MOST_MARKED]]
    return Layout(has_marks=_are_marked(tokens), has_ends=_has_ends([tag for _, tag in pairs]))


def _are_marked(tokens: Sequence[str]) -> bool:
    are_short = all(len(one) in (2, 3) and one != _without_mark(one) for one in tokens)
    return len(tokens) >= _LEAST_MARKED and are_short and tokens[0].endswith("0")


def _without_mark(token: str) -> str:
    """The token without the number behind its first character: in a long word it has two digits."""
    return token[:1] + token[1:].rstrip(_DIGITS)


def _columns(line: str) -> tuple[str, str] | None:
    """The first column and the last; a token may itself be a blank."""
    if "\t" in line:
        columns = line.split("\t")
        return (columns[0], columns[-1].strip(" ")) if columns[0] and columns[-1].strip(" ") else None
    columns = line.rstrip(" ").split(" ")
    if len(columns) < 2:
        return None
    return columns[0] or " ", columns[-1]


def _is_text(line: str, separator: str) -> bool:
    """Whether a line has several tokens and as many tags in its last two columns."""
    columns = line.split("\t")
    if len(columns) < 2:
        return False
    tags = columns[-1].strip(" ").split(separator)
    are_tags = all(tag == "O" or tag[1:2] == "-" for tag in tags)
    return len(tags) > 1 and are_tags and separator in columns[-2]


def _is_header(line: str, separator: str) -> bool:
    """Whether the last column is one name; a first text whose tags are wrong is not, and must be told."""
    last = line.split("\t")[-1].strip(" ")
    return separator not in last and last != "O" and last[1:2] != "-"


def _has_ends(tags: Sequence[str]) -> bool:
    return any(tag.startswith(("E-", "S-")) for tag in tags)
