"""Users' regular expressions, refused where making or using them could take all of memory.

`regex` writes a repeated part out as often as it must occur, which nested counts make large without limit; and a
recursive one keeps what it is in. Neither is stopped by the time that a search is given.
"""

from __future__ import annotations

import re

import regex

MAX_CHARACTERS, MAX_SIZE = 2_000, 20_000
COMPILE_S = 1.0
_COUNT = re.compile(r"\{([0-9]*)(?:,[0-9]*)?\}")
# Calls of groups and of the whole, and what makes an expression read in another way than `written_out` reads it.
_REFUSED = re.compile(r"\(\?(?:R\)|[+-]?[0-9]+\)|P?&|P>|#|[a-zA-Z0-9]*(?:x|V1)[a-zA-Z0-9]*(?:-[a-zA-Z]+)?[:)])")


def compile_pattern(pattern: object) -> regex.Pattern:
    """The expression; ValueError where it is none, is too large, or matches the empty text."""
    if not isinstance(pattern, str) or not 0 < len(pattern) <= MAX_CHARACTERS:
        raise ValueError(f"a pattern is {str(pattern)[:40]!r}, expected 1 to {MAX_CHARACTERS:,} characters")
    said = f"the pattern {pattern[:60]!r}"
    try:
        size = written_out(pattern)
        if size > MAX_SIZE:
            raise ValueError(f"{said} is {size:,} parts with its counts written out, expected at most {MAX_SIZE:,}")
        compiled = regex.compile(pattern)
        is_empty = compiled.fullmatch("", timeout=COMPILE_S) is not None
    except (regex.error, OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f"{said} is no regular expression: {error}") from error
    except TimeoutError as error:
        raise ValueError(f"{said} takes more than {COMPILE_S:.0f} s on the empty text") from error
    if is_empty:
        raise ValueError(f"{said} matches the empty text")
    return compiled


def written_out(pattern: str) -> int:
    """How many parts an expression has where each is repeated as often as it must occur; ValueError where unknown."""
    totals, last, place = [0], 0, 0  # a total for each open group; `last` is the size of the part just read
    while place < len(pattern):
        one, count = pattern[place], _COUNT.match(pattern, place)
        if count and last:
            totals[-1] += last * (max(int(count[1] or 0), 1) - 1)
            last, place = 0, count.end()
            continue
        if one == "(":
            _check_group(pattern, place)
            totals.append(0)
            last = 0
        elif one == ")":
            if len(totals) == 1:
                raise ValueError(f"the pattern {pattern[:60]!r} is no regular expression: a group ends unopened")
            last = totals.pop() + 1
            totals[-1] += last
        else:
            last = 1
            totals[-1] += 1
        place = _behind(pattern, place)
    if len(totals) > 1:
        raise ValueError(f"the pattern {pattern[:60]!r} is no regular expression: a group has no end")
    return totals[0]


def _check_group(pattern: str, place: int) -> None:
    found = _REFUSED.match(pattern, place)
    if found:
        what = "no recursion, comment, or flag x or V1 can be used"
        raise ValueError(f"the pattern {pattern[:60]!r} has {found[0]!r}: {what}")


def _behind(pattern: str, place: int) -> int:
    """Where a character, an escaped one or a set in square brackets ends."""
    if pattern[place] == "\\":
        return place + 2
    if pattern[place] != "[":
        return place + 1
    place += 2 if pattern.startswith("[^", place) else 1
    place += pattern.startswith("]", place)
    while place < len(pattern) and pattern[place] != "]":
        named = pattern.find(":]", place + 2) if pattern.startswith("[:", place) else -1
        place = named + 2 if named >= 0 else place + 1 + (pattern[place] == "\\")
    return place + 1
