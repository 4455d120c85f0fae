"""How a head's output is decoded: what a model folder and a bundle keep of it, and checks when it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from ernie_pp.data.entities.tags import Scheme
from ernie_pp.tasks.ner.chain import Chain
from ernie_pp.tasks.ner.rules import Rule
from ernie_pp.tasks.ner.scheme import TagSet

Head = Literal["softmax", "crf", "global_pointer"]


@dataclass(frozen=True)
class DecodeSettings:
    """What turns the head's output into entities; travels in the bundle.

    `thresholds` are one a type, for global_pointer; `chain` is what a CRF's bundle adds to the emissions (None: they
    come with them, or there is none). `is_nested`: entities may overlap.
    """

    labels: tuple[str, ...]
    head: Head
    scheme: Scheme
    thresholds: tuple[float, ...] = ()
    is_nested: bool = False
    rules: tuple[Rule, ...] = ()
    chain: Chain | None = None

    @property
    def tags(self) -> TagSet:
        """The tags of the token heads."""
        return TagSet(self.labels, self.scheme)

    @property
    def num_outputs(self) -> int:
        """Of the head: one a tag, or one a type."""
        return len(self.labels) if self.head == "global_pointer" else len(self.tags.names)

    def to_json(self) -> dict:
        """Plain values for a model folder or a manifest."""
        return {
            "labels": list(self.labels),
            "head": self.head,
            "scheme": self.scheme,
            "tags": [] if self.head == "global_pointer" else list(self.tags.names),
            "thresholds": list(self.thresholds),
            "nested": self.is_nested,
            "rules": [rule.to_json() for rule in self.rules],
            "chain": None if self.chain is None else self.chain.to_json(),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> DecodeSettings:
        """The inverse of `to_json`; ValueError for values that it cannot have given."""
        _check(values)
        settings = cls(
            labels=tuple(values["labels"]),
            head=values["head"],
            scheme=values["scheme"],
            thresholds=tuple(map(float, values["thresholds"])),
            is_nested=values["nested"],
            rules=tuple(map(Rule.from_json, values["rules"])),
        )
        if values["tags"] != settings.to_json()["tags"]:
            raise ValueError("decode.tags are not those of the labels and the scheme")
        unknown = next((rule for rule in settings.rules if rule.label not in settings.labels), None)
        if unknown is not None:
            raise ValueError(f"decode.rules: {unknown.name[:40]!r} is about {unknown.label[:40]!r}, which is no label")
        if values["chain"] is None:
            return settings
        return settings.with_chain(Chain.from_json(values["chain"], num_tags=settings.num_outputs))

    def with_chain(self, chain: Chain) -> DecodeSettings:
        """The same with a CRF's transitions."""
        return replace(self, chain=chain)

    def check_output(self, shape: tuple[int, ...], length: int) -> None:
        """ValueError unless a bundle's output of this shape, for rows of `length` tokens, is that of this head."""
        if self.head == "crf" and self.chain is None:
            raise ValueError("has no transitions (decode.chain), without which a CRF's emissions say little")
        count = self.num_outputs
        expected = (count, length, length) if self.head == "global_pointer" else (length, count)
        if shape[1:] != expected:
            raise ValueError(f"gives {shape[1:]} numbers a row for {count} outputs and {length} tokens")


def _check(values: Mapping[str, Any]) -> None:
    names = ("labels", "head", "scheme", "tags", "thresholds", "nested", "rules", "chain")
    if not isinstance(values, Mapping) or not values.keys() >= set(names):
        raise ValueError(f"decode lacks one of {', '.join(names)}")
    for problem in _problems(values):
        raise ValueError(f"decode.{problem}")


def _problems(values: Mapping[str, Any]) -> Iterator[str]:
    labels, thresholds = values["labels"], values["thresholds"]
    if values["head"] not in get_args(Head):
        yield f"head is {str(values['head'])[:80]}, expected one of {', '.join(get_args(Head))}"
    if not isinstance(labels, list) or not labels or not all(isinstance(one, str) and one.strip() for one in labels):
        yield f"labels is {str(labels)[:80]}, expected a list of names"
    elif len(set(labels)) < len(labels):
        yield "labels names one type twice"
    elif not isinstance(thresholds, list) or not all(type(one) in (int, float) and 0 <= one <= 1 for one in thresholds):
        yield f"thresholds is {ascii(thresholds)[:80]}, expected numbers from 0 to 1"
    elif len(thresholds) != (len(labels) if values["head"] == "global_pointer" else 0):
        yield f"thresholds has {len(thresholds)} numbers for {len(labels)} types and {str(values['head'])[:40]}"
    if values["scheme"] not in get_args(Scheme):
        yield f"scheme is {str(values['scheme'])[:80]}, expected one of {', '.join(get_args(Scheme))}"
    if type(values["nested"]) is not bool:
        yield f"nested is {str(values['nested'])[:80]}, expected true or false"
    if not isinstance(values["rules"], list):
        yield f"rules is {str(values['rules'])[:80]}, expected a list"
