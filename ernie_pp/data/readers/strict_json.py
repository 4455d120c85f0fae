"""JSON values decoded strictly: no key twice, no NaN, no lone surrogate, no depth that ends the process."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from ernie_pp.data.rows import Fault, Place

MAX_DEPTH = 64
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_SUSPICIOUS_ESCAPE = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")
_BAD_CHARACTER = re.compile("[\ud800-\udfff\0]")


@dataclass(frozen=True)
class Decoded:
    """A value, the place after it in the text, and what is wrong with it."""

    value: object
    end: int
    problem: Problem | None


@dataclass(frozen=True)
class Problem:
    """A fault that has no place yet."""

    column: str
    value: str
    expected: str
    advice: str = ""

    def at(self, place: Place) -> Fault:
        """The fault of a row at this place."""
        return Fault(place, self.column, self.value, self.expected, self.advice)


class JsonSyntaxError(Exception):
    """The text is no JSON from `position` on; `is_cut_off` where more text could still complete it."""

    def __init__(self, problem: Problem, *, is_cut_off: bool) -> None:
        super().__init__(problem.expected)
        self.problem = problem
        self.is_cut_off = is_cut_off


class StrictDecoder:
    """Decodes one value after the other; problems inside a value do not hide where it ends."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_constant=self._constant, parse_float=self._float, parse_int=self._int
        )

    def decode(self, text: str, start: int = 0) -> Decoded:
        """The value that begins at `start`; raises JsonSyntaxError where none does."""
        self._problems.clear()
        try:
            value, end = self._decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            raise _syntax_error(text, start, error) from None
        except RecursionError:
            raise JsonSyntaxError(_depth_problem(text[start : start + 61]), is_cut_off=False) from None
        problem = self._problems[0] if self._problems else None
        problem = problem or _find_deep(text, start, end) or _find_bad_text(value, text, start, end)
        return Decoded(value, end, problem)

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        record = dict(pairs)
        if len(record) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for index, name in enumerate(names) if name in names[:index])
            self._problems.append(
                Problem(f'key "{twice}"', ", ".join(names), "every key once", "Remove one of the two.")
            )
        return record

    def _constant(self, name: str) -> None:
        advice = "Write null, or the number as text in quotes."
        self._problems.append(Problem("number", name, "a finite number (JSON has no NaN and no Infinity)", advice))

    def _float(self, digits: str) -> float:
        number = float(digits)
        if not math.isfinite(number):
            advice = "Write the number as text in quotes."
            self._problems.append(Problem("number", digits, "a number that fits 64-bit floating point", advice))
        return number

    def _int(self, digits: str) -> int:
        try:
            return int(digits)
        except ValueError:  # Python converts no number of more than 4,300 digits
            self._problems.append(Problem("number", digits, "at most 4,300 digits", "Write it as text in quotes."))
            return 0


def _syntax_error(text: str, start: int, error: json.JSONDecodeError) -> JsonSyntaxError:
    is_at_end = error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip())
    # An escape, a literal (tru[e], -Infinit[y]) or a number (1.[5]) that is cut off is told where it begins.
    may_go_on = error.msg.startswith(("Invalid \\", "Expecting")) and error.pos + len("-Infinity") > len(text)
    reason = "it ends in the middle" if is_at_end else f"{error.msg[0].lower()}{error.msg[1:]}".removesuffix(" at")
    problem = Problem(
        f"character {error.pos + 1 - start}",
        text[max(start, error.pos - 20) : error.pos + 40] or text[-40:],
        f"valid JSON ({reason})",
        "Write each row as one complete JSON object; a JSON library does the quoting and escaping.",
    )
    return JsonSyntaxError(problem, is_cut_off=is_at_end or may_go_on)


def _depth_problem(text: str) -> Problem:
    return Problem("nesting", text, f"at most {MAX_DEPTH} levels of brackets", "Write the row flatter.")


def _find_deep(text: str, start: int, end: int) -> Problem | None:
    if text.count("[", start, end) + text.count("{", start, end) <= MAX_DEPTH:
        return None
    depth = 0
    for match in _BRACKETS.finditer(text, start, end):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match.group(), 0)
        if depth > MAX_DEPTH:
            return _depth_problem(text[start : start + 61])
    return None


def _find_bad_text(value: object, text: str, start: int, end: int) -> Problem | None:
    """A lone surrogate or NUL in any text of the value; only an escape can bring one in."""
    if not _SUSPICIOUS_ESCAPE.search(text, start, end):
        return None
    waiting: list[tuple[str, object]] = [("value", value)]
    while waiting:
        column, one = waiting.pop()
        if isinstance(one, str) and (match := _BAD_CHARACTER.search(one)):
            what = "NUL" if match.group() == "\0" else "a lone surrogate"
            shown = one[max(0, match.start() - 20) : match.start() + 20]
            return Problem(column, shown, f"text without {what}", f"Remove the character {match.start() + 1}.")
        if isinstance(one, dict):
            waiting += [(column, key) for key in one]
            waiting += [(key if one is value else column, inner) for key, inner in one.items()]
        elif isinstance(one, list):
            waiting += [(column, inner) for inner in one]
    return None
