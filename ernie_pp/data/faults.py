"""What is wrong with the user's rows: collected, told in one message, or listed in the run folder."""

from __future__ import annotations

import dataclasses
import json
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from ernie_pp.choices import OnError
from ernie_pp.data.rows import Fault, Place
from ernie_pp.durable import write_text
from ernie_pp.errors import DataError
from ernie_pp.nearest import nearest_name
from ernie_pp.text.invisible import is_invisible
from ernie_pp.text.truncation import TooLong

MAX_EXCERPT = 60
# Skipped rows that are remembered one by one; more are only counted, so that memory stays bounded.
MAX_LISTED = 10_000
# Of characters that are not invisible: halves of pairs, unassigned ones, line and paragraph separators.
_ESCAPED = frozenset({"Cs", "Cn", "Zl", "Zp"})


class Faults:
    """Faults found so far: `stop` raises one DataError with all of them, `skip` keeps them for the run's list."""

    def __init__(self, *, on_error: OnError = "stop", limit: int = 20) -> None:
        self.on_error = on_error
        self.limit = limit
        self.count = 0
        self._listed: list[Fault] = []

    @property
    def listed(self) -> tuple[Fault, ...]:
        """The faults in the order they were found, the first MAX_LISTED of them."""
        return tuple(self._listed)

    def add(self, fault: Fault) -> None:
        """Note one fault; under `stop` raises DataError when the limit is reached."""
        self.count += 1
        if len(self._listed) < MAX_LISTED:
            self._listed.append(_safe(fault))
        if self.on_error == "stop" and self.count >= self.limit:
            self._raise(more=True)

    def refuse(self, fault: Fault) -> NoReturn:
        """Raise for a fault of the file as a whole (no header, cut off), which no skipping of rows can mend."""
        self.count += 1
        fault = _safe(fault)
        others = [one for one in self._listed[: self.limit] if self.on_error == "stop" and one != fault]
        raise _error([*others, fault], more=False)

    def check(self) -> None:
        """Raise DataError with all faults when there are any and they stop the run."""
        if self.on_error == "stop" and self.count:
            self._raise(more=self.count > self.limit)

    def write(self, path: str | Path) -> None:
        """List the faults as JSON lines: file, line, column, value, expected, advice."""
        lines = [_as_json(fault) for fault in self._listed]
        if self.count > len(self._listed):
            lines.append(json.dumps({"not_listed": self.count - len(self._listed)}))
        write_text(Path(path), "".join(line + "\n" for line in lines))

    def _raise(self, *, more: bool) -> NoReturn:
        raise _error(self._listed[: self.limit], more=more)


def excerpt(value: object, *, limit: int = MAX_EXCERPT) -> str:
    """The value as one printable line: control characters and surrogates escaped, cut to `limit` characters."""
    text = value if isinstance(value, str) else repr(value)
    safe = "".join(_escape(character) for character in text[: limit + 1])
    return safe if len(safe) <= limit and len(text) <= limit else safe[: limit - 1] + "…"


def too_long(place: Place, column: str, found: TooLong) -> Fault:
    """The fault of a text (or pair, its columns joined by " + ") over a length limit that refuses to cut."""
    expected = f"at most {found.limit} tokens (text.max_length)"
    return Fault(place, column, f"{found.length} tokens", expected, found.advice)


def nearest_advice(name: str, names: Iterable[str]) -> str:
    """One sentence that names the most similar of the known names, or lists the first few of them."""
    known = list(names)
    nearest = nearest_name(name, known)
    if nearest is not None:
        return f'Did you mean "{excerpt(nearest)}"?'
    shown = ", ".join(f'"{excerpt(one, limit=30)}"' for one in known[:10])
    return f"There are: {shown}{', …' if len(known) > 10 else ''}." if known else "There are none."


def _escape(character: str) -> str:
    if not is_invisible(character) and unicodedata.category(character) not in _ESCAPED:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _safe(fault: Fault) -> Fault:
    return dataclasses.replace(fault, value=excerpt(fault.value), column=excerpt(fault.column))


def _as_json(fault: Fault) -> str:
    record = {"file": fault.place.path, "line": fault.place.line, "column": fault.column}
    record |= {"value": fault.value, "expected": fault.expected, "advice": fault.advice}
    # A file name of the system may hold undecodable bytes as surrogates.
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")


def _error(faults: list[Fault], *, more: bool) -> DataError:
    """The first fault's place heads the message; an advice that several faults in a row share is said once."""
    parts: list[str] = []
    for index, fault in enumerate(faults):
        if index:
            parts.append(str(fault.place))
        parts.append(f'{fault.column}: found "{fault.value}", expected {fault.expected}')
        is_last_with_it = index + 1 == len(faults) or faults[index + 1].advice != fault.advice
        if fault.advice and is_last_with_it:
            parts.append(fault.advice)
    if more:
        parts.append(f"and more: reading stopped after {len(faults)} faults.")
    if len(faults) > 1 or more:
        parts.append("Correct the rows, or set data.on_error: skip to leave them out and list them in the run folder.")
    return DataError(str(faults[0].place), "\n".join(parts))
