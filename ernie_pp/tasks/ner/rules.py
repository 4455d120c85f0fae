"""What a user knows for certain: terms and regular expressions that add entities to the model's, or forbid some.

Expressions may take for ever on a text they were not made for: those that could take all of memory are refused
(patterns.py), and the search of a text is given up after a time, which is an error and no silent loss.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from ernie_pp.bounded import read_text
from ernie_pp.config.ner import RuleConfig
from ernie_pp.data.entities.document import Mention
from ernie_pp.errors import ConfigError, DataError
from ernie_pp.nearest import nearest_name
from ernie_pp.tasks.ner.patterns import compile_pattern
from ernie_pp.text.merging import without_overlaps
from ernie_pp.text.terms import TermMatcher

# Of all terms together: a bundle's manifest holds them, and has at most twice as much.
MAX_TERMS_BYTES = 4 << 20
_BYTES_AROUND = 10  # of a term in a manifest: quotes, comma, line break, indentation
SEARCH_S = 10.0
Span = tuple[int, int]


@dataclass(frozen=True)
class Rule:
    """Terms, or one expression, about entities of one type; ValueError for what no rule says."""

    name: str
    label: str
    action: Literal["add", "veto"]
    terms: tuple[str, ...] = ()
    pattern: str | None = None
    score: float = 1.0

    def __post_init__(self) -> None:
        texts = (self.name, self.label, *self.terms)
        if not all(isinstance(one, str) and one for one in texts) or self.action not in ("add", "veto"):
            raise ValueError(f"rule {str(self.name)[:40]!r}: name, label, action or a term is none")
        if type(self.score) not in (int, float) or not 0 < self.score <= 1:
            raise ValueError(f"rule {self.name!r}: score is {self.score!r}, expected a number above 0 and up to 1")
        if bool(self.terms) == (self.pattern is not None):
            raise ValueError(f"rule {self.name!r} needs terms or a pattern")
        if self.pattern is not None:
            compile_pattern(self.pattern)

    def to_json(self) -> dict:
        """Plain values for a manifest."""
        return {**asdict(self), "terms": list(self.terms)}

    @classmethod
    def from_json(cls, values: object) -> Rule:
        """The inverse of `to_json`; ValueError for values that it cannot have given."""
        names = {"name", "label", "action", "terms", "pattern", "score"}
        if not isinstance(values, Mapping) or set(values) != names or not isinstance(values["terms"], list):
            raise ValueError(f"a rule is {str(values)[:80]}, expected {', '.join(sorted(names))}")
        return cls(**{**values, "terms": tuple(values["terms"])})


def load_rules(configs: Sequence[RuleConfig], labels: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of the settings, their files of terms read; ConfigError names the rule that is wrong."""
    rules = tuple(_load(config, labels) for config in configs)
    if sum(len(term.encode()) + _BYTES_AROUND for rule in rules for term in rule.terms) > MAX_TERMS_BYTES:
        what = f"hold more than {MAX_TERMS_BYTES:,} bytes of terms, which no bundle has room for"
        raise ConfigError("ner.rules", what, "Leave out the terms that a model finds by itself.")
    return rules


class RuleFinder:
    """Applies rules to the entities of one text after the other."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._searches = [(rule, _Search(rule)) for rule in rules]

    def apply(self, text: str, mentions: Sequence[Mention], *, nested: bool) -> tuple[Mention, ...]:
        """The entities in order, after all vetoes and then all additions.

        A veto removes an entity of its type whose place is exactly one that the rule finds; one that it finds in part,
        or with more around it, stays. An added one has its rule's score and the source "rule:NAME", of several rules
        that find it the surest one's, then the first's. Where the model has the same place and type, the model's
        stands for it. Where entities must not overlap (`nested` False), those that rules find take the place of the
        model's others, and among themselves the surer stays, then the longer, then the earlier.
        """
        kept = self._without_vetoed(text, mentions)
        added = _surest(self._added(text))
        if not nested:
            return _flat(kept, added)
        known = {_place(one) for one in kept}
        return tuple(sorted([*kept, *(one for one in added if _place(one) not in known)]))

    def _without_vetoed(self, text: str, mentions: Sequence[Mention]) -> list[Mention]:
        vetoed = {(*span, rule.label) for rule, find in self._of("veto") for span in find(text)}
        return [one for one in mentions if _place(one) not in vetoed]

    def _added(self, text: str) -> list[Mention]:
        return [
            Mention(start, end, rule.label, rule.score, f"rule:{rule.name}")
            for rule, find in self._of("add")
            for start, end in find(text)
        ]

    def _of(self, action: str) -> Iterator[tuple[Rule, _Search]]:
        return ((rule, find) for rule, find in self._searches if rule.action == action)


class _Search:
    """Finds the places of one rule."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.matcher = TermMatcher(dict.fromkeys(rule.terms, True)) if rule.terms else None
        self.expression = None if rule.pattern is None else compile_pattern(rule.pattern)

    def __call__(self, text: str) -> list[Span]:
        if self.matcher is not None:
            # A term is forbidden also where it stands inside a longer one of the list.
            find = self.matcher.find_all if self.rule.action == "veto" else self.matcher.find
            return [(start, end) for start, end, _ in find(text)]
        assert self.expression is not None
        group = 1 if self.expression.groups else 0
        try:
            found = [match.span(group) for match in self.expression.finditer(text, timeout=SEARCH_S)]
        except TimeoutError as error:
            what = f"takes more than {SEARCH_S:.0f} s on a text that begins {text[:30]!r}"
            raise DataError(f"rule {self.rule.name}", what, "Write an expression that tries fewer ways.") from error
        return [(start, end) for start, end in found if 0 <= start < end]


def _place(one: Mention) -> tuple[int, int, str]:
    return one.start, one.end, one.label


def _surest(added: Iterable[Mention]) -> list[Mention]:
    """One of each place and type."""
    best: dict[tuple[int, int, str], Mention] = {}
    for one in added:
        if one.score > best.setdefault(_place(one), one).score:
            best[_place(one)] = one
    return list(best.values())


def _flat(kept: Sequence[Mention], added: Sequence[Mention]) -> tuple[Mention, ...]:
    """What rules find, as the model's where that has it, and those of the model that none of it overlaps."""
    of_model = {_place(one): one for one in kept}
    spans = [(one.start, one.end) for one in added]
    chosen = [added[index] for index in without_overlaps(spans, [one.score for one in added])]
    ends = [one.end for one in chosen]  # they ascend, as the chosen do not overlap
    left = []
    for one in kept:
        next_one = bisect.bisect_right(ends, one.start)
        if next_one == len(chosen) or chosen[next_one].start >= one.end:
            left.append(one)
    return tuple(sorted([*left, *(of_model.get(_place(one), one) for one in chosen)]))


def _load(config: RuleConfig, labels: Sequence[str]) -> Rule:
    where = f"ner.rules {config.name!r}"
    if config.label not in labels:
        nearest = nearest_name(config.label, labels)
        advice = f"Did you mean {nearest!r}?" if nearest else "Name a type that the run has."
        raise ConfigError(where, f"is about {config.label!r}, which is none of {', '.join(labels[:10])}", advice)
    try:
        terms = () if config.terms is None else _read_terms(config.terms, where)
        return Rule(config.name, config.label, config.action, terms, config.pattern, config.score)
    except ValueError as error:
        raise ConfigError(where, str(error), "Correct the rule.") from error


def _read_terms(path: str, where: str) -> tuple[str, ...]:
    text = read_text(Path(path), max_bytes=MAX_TERMS_BYTES, error=ConfigError, do="Name a file of terms, one a line.")
    terms = tuple(dict.fromkeys(line.strip() for line in text.removeprefix("\ufeff").split("\n") if line.strip()))
    if not terms:
        raise ConfigError(where, f"{path} holds no terms", "Write one term a line.")
    return terms
