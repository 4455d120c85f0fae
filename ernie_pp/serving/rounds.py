"""Requests answered in rounds: each gets its share of a round's tokens, so that a long one holds up no other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ernie_pp.data.token_rows import TokenRows
from ernie_pp.serving.work import Work

# Tokens of one round, padding not counted, and the most and the least that a request gets of it: one that comes while a
# long document is being read waits for half a round.
ROUND_TOKENS = 8192
MOST_SHARE, LEAST_SHARE = 4096, 1024

Answers = Callable[[TokenRows], list[Any]]


@dataclass
class Running:
    """A request that is being answered, and the tokens computed for it."""

    number: int
    work: Work
    num_tokens: int = 0
    is_done: bool = field(default=False)


class Rounds:
    """Requests in turns. Single-threaded, and knows of no clock and no process."""

    def __init__(self, answers: Answers) -> None:
        """`answers` gives, for rows of several requests on end, what decides of each row."""
        self._answers = answers
        self._waiting: deque[Running] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, number: int, work: Work) -> None:
        """Take a request into the turns."""
        self._waiting.append(Running(number, work))

    def drop(self, number: int) -> None:
        """Forget a request; its rows that are left are not computed."""
        self._waiting = deque(one for one in self._waiting if one.number != number)

    def step(self) -> list[Running]:
        """Answer one round's rows; returns the requests that took part, `is_done` those with no rows left.

        Requests take part in the order of their turns until the round is full; who took part stands at the end.
        """
        parts = list(self._collect())
        if parts:
            self._give_back(parts)
        for one, _ in parts:
            one.is_done = one.work.is_done
            if not one.is_done:
                self._waiting.append(one)
        return [one for one, _ in parts]

    def _collect(self) -> Iterator[tuple[Running, TokenRows]]:
        left = ROUND_TOKENS
        share = min(MOST_SHARE, max(LEAST_SHARE, ROUND_TOKENS // max(1, len(self._waiting))))
        for _ in range(len(self._waiting)):
            if left <= 0:
                return
            one = self._waiting.popleft()
            rows = one.work.next(min(share, left))
            assert rows is not None, "what is done does not wait"
            left -= len(rows.ids)
            yield one, rows

    def _give_back(self, parts: list[tuple[Running, TokenRows]]) -> None:
        answers, start = self._answers(TokenRows.join([rows for _, rows in parts])), 0
        for one, rows in parts:
            one.work.take(answers[start : start + len(rows)])
            one.num_tokens += len(rows.ids)
            start += len(rows)
