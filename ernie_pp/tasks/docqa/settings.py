"""What turns a model's output into answers; travels in model folders and bundles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ernie_pp.data.questions.question import AnswerKind

# Every model can point at a span and at nothing; one trained on yes and no answers has an output for each of those.
PLAIN_KINDS: tuple[AnswerKind, ...] = ("span", "none")
ALL_KINDS: tuple[AnswerKind, ...] = (*PLAIN_KINDS, "yes", "no")
_MAX_BEST = 50


@dataclass(frozen=True)
class DecodeSettings:
    """`labels` are the kinds of answers; `max_answer` counts characters; `threshold` is a probability."""

    labels: tuple[AnswerKind, ...]
    max_answer: int
    num_best: int
    threshold: float

    def __post_init__(self) -> None:
        if self.labels not in (PLAIN_KINDS, ALL_KINDS):
            raise ValueError(f"decode.labels is {self.labels!r}, expected {PLAIN_KINDS} or {ALL_KINDS}")
        for name, most in (("max_answer", 1 << 30), ("num_best", _MAX_BEST)):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= most:
                raise ValueError(f"decode.{name} is {value!r}, expected a whole number from 1 to {most}")
        if type(self.threshold) not in (int, float) or not 0 <= self.threshold <= 1 or math.isnan(self.threshold):
            raise ValueError(f"decode.threshold is {self.threshold!r}, expected 0 to 1")

    @property
    def has_yes_no(self) -> bool:
        """Whether yes and no are answers."""
        return self.labels == ALL_KINDS

    @property
    def num_outputs(self) -> int:
        """Of the head, for each token: first and last token of an answer, and yes and no, which [CLS] tells."""
        return count_outputs(self.labels)

    def check_output(self, shape: tuple[int, ...], length: int) -> None:
        """ValueError unless logits of this shape, for rows of `length` tokens, are those of these kinds."""
        if shape[1:] != (length, self.num_outputs):
            raise ValueError(f"gives {shape[1:]} numbers a row of {length} tokens, expected {self.num_outputs} a token")

    def to_json(self) -> dict:
        """Plain values for a manifest."""
        numbers = {"max_answer": self.max_answer, "num_best": self.num_best, "threshold": self.threshold}
        return {"labels": list(self.labels), **numbers}

    @classmethod
    def from_json(cls, values: Mapping) -> DecodeSettings:
        """The inverse of `to_json`; ValueError for values that it cannot have given."""
        names = ("labels", "max_answer", "num_best", "threshold")
        if not isinstance(values, Mapping) or not values.keys() >= set(names) or not isinstance(values["labels"], list):
            raise ValueError(f"decode lacks one of {', '.join(names)}")
        labels, *numbers = (values[name] for name in names)
        return cls(tuple(labels), *numbers)


def count_outputs(labels: tuple[AnswerKind, ...]) -> int:
    """Numbers a token that a head gives for these kinds of answers."""
    return len(labels)


def output_names(labels: tuple[AnswerKind, ...]) -> tuple[str, ...]:
    """What each of them says."""
    return ("start", "end", *labels[2:])
