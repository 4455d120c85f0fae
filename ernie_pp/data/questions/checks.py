"""Checks of one question's answers against its document, and the question that comes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ernie_pp.data.faults import Faults, excerpt
from ernie_pp.data.findings import Findings
from ernie_pp.data.questions.layouts import FLAG, RawQuestion
from ernie_pp.data.questions.places import Located, locate
from ernie_pp.data.questions.question import NO, YES, Answer, AnswerKind, Question
from ernie_pp.data.questions.raw_answers import RawAnswer
from ernie_pp.data.questions.settling import Contradictions, contradicts, num_answers, num_kinds, settle
from ernie_pp.data.readers.strict_json import Problem
from ernie_pp.data.rows import Fault

_SHOWN = 40  # characters of an answer that a finding names
_WORDS: dict[str, AnswerKind] = {YES: "yes", NO: "no"}
_FLAGS = {"true": True, "false": False}
_BY_HOW = {"exact": ("missing", "moved"), "alike": ("missing_alike", "moved_alike")}


@dataclass(frozen=True)
class Checks:
    """How a file's questions are checked, and where what is found is noted."""

    contradictions: Contradictions
    counts_from_one: bool
    faults: Faults
    findings: Findings


def check_question(raw: RawQuestion, checks: Checks) -> Question | None:
    """The question with its answers in place; None where none of the answers can be used."""
    flag = _flag(raw.flag)
    if isinstance(flag, str) or isinstance(raw.answers, Problem):
        problem = raw.answers if isinstance(raw.answers, Problem) else _flag_problem(raw.flag)
        checks.faults.add(replace(problem, column=f"{problem.column} of {raw.id}").at(raw.place))
        return None
    plain = Question(raw.place, raw.id, raw.text, raw.document, rest=raw.rest)
    if raw.answers is None:
        return replace(plain, kind="none") if flag else plain
    usable = _usable(raw, raw.answers, checks)
    votes: Counter[AnswerKind] = Counter(kind for kind, _ in usable)
    # Somebody gave an answer, which cannot be used: that does not make the question one without an answer.
    if len(usable) < len(raw.answers) and not num_answers(votes):
        return None
    if contradicts(votes, flag) and checks.contradictions == "error":
        checks.faults.add(_contradiction(raw, raw.answers, flag))
        return None
    _note_disagreement(raw, votes, flag, checks.findings)
    kind = settle(votes, flag, checks.contradictions)
    answers = [answer for one, answer in usable if one == "span"]
    return replace(plain, kind=kind, answers=tuple(answers) if kind == "span" else ())


def _usable(raw: RawQuestion, given: Sequence[RawAnswer], checks: Checks) -> list[tuple[AnswerKind, Answer]]:
    """Each sound answer with its kind; one that the document does not have counts only beside one with a place."""
    judged = [_judged(raw, one, checks) for one in given if _is_sound(raw, one, checks.faults)]
    without = [answer for kind, answer in judged if kind == "span" and answer.start is None]
    has_span = any(answer.start is not None for _, answer in judged)
    if has_span or any(kind in ("yes", "no") for kind, _ in judged):
        for answer in without:
            checks.findings.add("not_in_document", raw.place, _shown(raw, answer.text))
    else:
        for answer in without:
            expected, advice = f"a text of its document, or {YES} or {NO}", "Correct it, or leave the question out."
            checks.faults.add(Fault(raw.place, f"answer of {raw.id}", answer.text, expected, advice))
    return judged if has_span else [one for one in judged if one[0] != "span"]


def _is_sound(raw: RawQuestion, answer: RawAnswer, faults: Faults) -> bool:
    """Whether text and start are of the types they must be; what is not becomes a fault."""
    if not isinstance(answer.text, str):
        advice = "Write the answer as the document has it, in double quotes."
        faults.add(Fault(raw.place, f"answer of {raw.id}", excerpt(answer.text), "text", advice))
        return False
    if answer.start is not None and type(answer.start) is not int:
        shown, expected = excerpt(answer.start), "a whole number, or -1 or null where it is not known"
        faults.add(Fault(raw.place, f"answer_start of {raw.id}", shown, expected, "Correct the start."))
        return False
    return True


def _judged(raw: RawQuestion, answer: RawAnswer, checks: Checks) -> tuple[AnswerKind, Answer]:
    stated = stated_start(answer, counts_from_one=checks.counts_from_one)
    if not answer.text.strip():
        return "none", Answer("")
    word = _WORDS.get(answer.text.strip())
    if word is not None and (stated is None or not raw.document.text.startswith(answer.text, stated)):
        return word, Answer(answer.text)
    found = _place(raw.document.text, answer.text, stated)
    if found is None:
        return "span", Answer(answer.text)
    _note_place(raw, answer, found, checks)
    return "span", Answer(answer.text, found.start, found.end)


def stated_start(answer: RawAnswer, *, counts_from_one: bool) -> int | None:
    """The start that a file states, from 0; None where it states none."""
    if type(answer.start) is not int or answer.start < counts_from_one:
        return None
    return answer.start - counts_from_one


def _place(text: str, answer: str, stated: int | None) -> Located | None:
    """The place of an answer without the blanks at its edges.

    The start may be that of the blank or of what is behind it: the document tells which.
    """
    core = answer.strip()
    num_before = len(answer) - len(answer.lstrip())
    is_whole = stated is not None and text.startswith(answer, stated)
    if stated is not None and is_whole:
        return Located(stated + num_before, stated + num_before + len(core), "stated")
    return locate(text, core, stated)


def _note_place(raw: RawQuestion, answer: RawAnswer, found: Located, checks: Checks) -> None:
    shown = _shown(raw, answer.text)
    stated = stated_start(answer, counts_from_one=checks.counts_from_one)
    if answer.text != answer.text.strip():
        checks.findings.add("blank_edge", raw.place, shown)
    if found.how == "stated" and checks.counts_from_one:
        checks.findings.add("from_one", raw.place, shown)
    if found.how in _BY_HOW:
        missing, moved = _BY_HOW[found.how]
        where = f"at {found.start}" if stated is None else f"from {stated} to {found.start}"
        checks.findings.add(missing if stated is None else moved, raw.place, f"{shown} {where}")
    if found.num_places > 1:
        checks.findings.add("ambiguous", raw.place, f"{shown}, {found.num_places} times")


def _note_disagreement(raw: RawQuestion, votes: Counter[AnswerKind], flag: bool | None, findings: Findings) -> None:
    told = ", ".join(f"{count} {kind}" for kind, count in votes.items()) or "no answer"
    shown = f"{excerpt(raw.id)} {told}"
    if votes["none"] and num_answers(votes):
        findings.add("mixed", raw.place, shown)
    if num_kinds(votes) > 1:
        findings.add("mixed_kinds", raw.place, shown)
    if contradicts(votes, flag):
        findings.add("contradiction", raw.place, f"{shown}, {FLAG} {str(flag).lower()}")


def _contradiction(raw: RawQuestion, given: Sequence[RawAnswer], flag: bool | None) -> Fault:
    shown = f"{str(flag).lower()}, answers {[one.text for one in given]}"
    advice = "Correct one of them, or set docqa.contradictions: answers, flag or majority."
    return Fault(raw.place, f"{FLAG} of {raw.id}", shown, "what the answers say", advice)


def _shown(raw: RawQuestion, answer: str) -> str:
    return f"{excerpt(raw.id)} {excerpt(answer, limit=_SHOWN)}"


def _flag(value: object) -> bool | str | None:
    """The flag, also where it is written in quotes; as it came where it is none."""
    if value is None or isinstance(value, bool):
        return value
    known = _FLAGS.get(value.strip().lower()) if isinstance(value, str) else None
    return excerpt(value) if known is None else known


def _flag_problem(value: object) -> Problem:
    return Problem(FLAG, excerpt(value), "true or false", "Write it without quotes, or leave it out.")
