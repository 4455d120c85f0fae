"""The fields of a document, filled from the entities that were found in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ernie_pp.config.ner import FieldConfig
from ernie_pp.data.entities.document import Mention
from ernie_pp.review.values import Kind, normalize_value

Status = Literal["found", "doubt", "missing"]
# Two values whose confidences differ by less are close.
CLOSE = 0.1


@dataclass(frozen=True)
class FieldValue:
    """One value a field may have: normalised, as its surest mention writes it, and every place it stands at."""

    value: str
    text: str
    confidence: float
    mentions: tuple[Mention, ...]  # in the order of their places


@dataclass(frozen=True)
class Field:
    """What a reviewer is told about one field.

    `values` have passed, surest first; `others` have not. `unread` are mentions whose amount or date could not be
    read. `reason` says why a field is in doubt or missing, "" where it is neither.
    """

    name: str
    kind: Kind
    status: Status
    reason: str
    values: tuple[FieldValue, ...]
    others: tuple[FieldValue, ...]
    unread: tuple[Mention, ...]
    is_required: bool

    @property
    def needs_a_look(self) -> bool:
        """Whether a reviewer must look at the contract for it."""
        return self.status == "doubt" or (self.status == "missing" and self.is_required)

    @property
    def candidates(self) -> tuple[FieldValue, ...]:
        """Every value that was seen, surest first."""
        return self.values + self.others


def fill_fields(text: str, mentions: Sequence[Mention], configs: Iterable[FieldConfig]) -> tuple[Field, ...]:
    """Every configured field of the document, in the order of the config."""
    return tuple(_fill(text, mentions, config) for config in configs)


def combine_scores(scores: Iterable[float]) -> float:
    """The confidence of a value from the scores of its mentions, surest first: 1 - Π (1 - score_k) ** (1 / k²).

    Mentions of one document are anything but independent: a wrong company is wrong at each of its twenty places. So
    the k-th surest counts 1/k² of an independent one. One mention gives its own score; a value that is repeated is
    surer than one that is not (contracts name their parties again and again); and no number of mentions at 0.34 or
    less reaches 0.5, which plain multiplication would do with two.
    """
    doubt = 0.0
    for rank, score in enumerate(sorted(scores, reverse=True), start=1):
        if score >= 1.0:
            return 1.0
        doubt += math.log1p(-score) / rank**2
    return -math.expm1(doubt)


def _fill(text: str, mentions: Sequence[Mention], config: FieldConfig) -> Field:
    candidates, unread = _group(text, [one for one in mentions if one.label in config.labels], config.kind)
    passing = [one for one in candidates if one.confidence >= config.threshold]
    chosen = passing if config.many else passing[:1]
    status, reason = _judge(chosen, passing, unread, config)
    return Field(
        name=config.name,
        kind=config.kind,
        status=status,
        reason=reason,
        values=tuple(chosen),
        others=tuple(candidates[len(chosen) :]),
        unread=tuple(unread),
        is_required=config.required,
    )


def _group(text: str, mentions: list[Mention], kind: Kind) -> tuple[list[FieldValue], list[Mention]]:
    """The values, surest first (of equals the one that stands first), and the mentions that have none."""
    groups: dict[str, list[Mention]] = {}
    unread = []
    # One place counts once, whatever number of rules and labels found it.
    for mention in _one_a_place(mentions):
        value = normalize_value(text[mention.start : mention.end], kind)
        if value is None:
            unread.append(mention)
        else:
            groups.setdefault(value, []).append(mention)
    values = [_value(text, value, found) for value, found in groups.items()]
    return sorted(values, key=lambda one: (-one.confidence, one.mentions[0].start, one.value)), unread


def _one_a_place(mentions: list[Mention]) -> list[Mention]:
    best: dict[tuple[int, int], Mention] = {}
    for mention in sorted(mentions, key=lambda one: (one.start, one.end, -one.score, one.label, one.source)):
        best.setdefault((mention.start, mention.end), mention)
    return list(best.values())


def _value(text: str, value: str, mentions: list[Mention]) -> FieldValue:
    surest = max(mentions, key=lambda one: (one.score, -one.start))
    confidence = combine_scores(one.score for one in mentions)
    return FieldValue(value, text[surest.start : surest.end], confidence, tuple(mentions))


def _judge(
    chosen: list[FieldValue], passing: list[FieldValue], unread: list[Mention], config: FieldConfig
) -> tuple[Status, str]:
    sure_unread = any(one.score >= config.threshold for one in unread)
    if not chosen:
        return ("doubt", f"no {config.kind} can be read") if sure_unread else ("missing", "not found")
    if any(one.confidence < config.doubt for one in chosen):
        return "doubt", "low confidence"
    if not config.many and len(passing) > 1 and passing[0].confidence - passing[1].confidence < CLOSE:
        return "doubt", "another value is as likely"
    return "found", ""
