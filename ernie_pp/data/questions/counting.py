"""Whether the starts of a file count from 1."""

from __future__ import annotations

from collections.abc import Iterable

from ernie_pp.data.questions.layouts import RawQuestion

# A start that counts from 1 may by chance be right from 0 too, where a character stands twice; few are.
_LEAST_TIMES = 10


def counts_from_one(questions: Iterable[RawQuestion]) -> bool:
    """Whether most answers stand one before their start, and hardly any at it."""
    num_stated = num_from_zero = num_from_one = 0
    for raw in questions:
        for answer in raw.answers if isinstance(raw.answers, tuple) else ():
            if isinstance(answer.text, str) and answer.text and type(answer.start) is int and answer.start >= 0:
                text, start = raw.document.text, answer.start
                num_stated += 1
                num_from_zero += text.startswith(answer.text, start)
                num_from_one += start > 0 and text.startswith(answer.text, start - 1)
    return 2 * num_from_one > num_stated and num_from_one >= _LEAST_TIMES * num_from_zero
