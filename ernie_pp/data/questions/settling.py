"""Of what kind a question's answer is, where its answers and its flag need not agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ernie_pp.data.questions.question import AnswerKind

Contradictions = Literal["answers", "flag", "majority", "error"]
# Votes of annotators, by the kind of answer that each gave.
Votes = Mapping[AnswerKind, int]


def contradicts(votes: Votes, is_impossible: bool | None) -> bool:
    """Whether the flag says that there is no answer and annotators give one, or the other way round."""
    return is_impossible is not None and is_impossible == (num_answers(votes) > 0)


def num_answers(votes: Votes) -> int:
    """How many annotators give an answer."""
    return votes.get("span", 0) + votes.get("yes", 0) + votes.get("no", 0)


def num_kinds(votes: Votes) -> int:
    """How many of span, yes and no were given."""
    return sum(votes.get(kind, 0) > 0 for kind in ("span", "yes", "no"))


def settle(votes: Votes, is_impossible: bool | None, rule: Contradictions) -> AnswerKind:
    """The kind that counts; `rule` decides where the flag contradicts the answers, and "error" does not come here."""
    given = num_answers(votes)
    has_answer = given > 0
    if contradicts(votes, is_impossible) and rule == "flag":
        has_answer = has_answer and not is_impossible
    elif contradicts(votes, is_impossible) and rule == "majority":
        has_answer = has_answer and given >= votes.get("none", 0)
    if not has_answer:
        return "none"
    kinds: tuple[AnswerKind, ...] = ("span", "yes", "no")
    return max(kinds, key=lambda kind: votes.get(kind, 0))
