"""The answers of a question as its file has them, whatever their layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ernie_pp.data.faults import excerpt
from ernie_pp.data.readers.strict_json import Problem

_TEXT, _STARTS = "text", ("answer_start", "start")
_ADVICE = 'Write a list of texts, or of {"text": "…", "answer_start": 0}; an empty list: there is no answer.'


@dataclass(frozen=True)
class RawAnswer:
    """An answer that is not checked: its text and its start may be of any type."""

    text: Any
    start: Any = None


def read_answers(value: Any) -> tuple[RawAnswer, ...] | Problem:
    """The answers of a list, of one text or object, of lists of texts and starts, or of null (there is none)."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (RawAnswer(value),)
    if isinstance(value, Mapping):
        return _of_lists(value) if isinstance(value.get(_TEXT), Sequence) and _is_list(value) else (_one(value),)
    if not isinstance(value, list):
        return Problem("answers", excerpt(value), "a list of answers", _ADVICE)
    return tuple(map(_one, value))


def _one(value: Any) -> RawAnswer:
    if not isinstance(value, Mapping) or _TEXT not in value:
        return RawAnswer(value)
    return RawAnswer(value[_TEXT], _start(value))


def _is_list(value: Mapping[str, Any]) -> bool:
    return not isinstance(value[_TEXT], str)


def _of_lists(value: Mapping[str, Any]) -> tuple[RawAnswer, ...] | Problem:
    """As `datasets` keeps them: a list of texts beside a list of starts."""
    texts, starts = list(value[_TEXT]), _start(value)
    starts = [None] * len(texts) if starts is None else starts
    if not isinstance(starts, Sequence) or isinstance(starts, str) or len(starts) != len(texts):
        return Problem("answers", excerpt(value), "as many starts as texts", _ADVICE)
    return tuple(map(RawAnswer, texts, starts))


def _start(value: Mapping[str, Any]) -> Any:
    return next((value[name] for name in _STARTS if name in value), None)
