"""Rules across the keys of named entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ernie_pp.config.fields import is_set
from ernie_pp.config.schema import NerConfig, RunConfig


def ner_rules(config: RunConfig) -> Iterator[str]:
    """What contradicts, or has no effect, in a config of named entities."""
    yield from _head_rules(config.ner)
    yield from _text_rules(config)
    yield from _named_rules(config)


def _head_rules(ner: NerConfig) -> Iterator[str]:
    pointer, is_pointer = ("threshold", "pointer_size"), ner.head == "global_pointer"
    for name in ("scheme", "overlaps", "crf_learning_rate") if is_pointer else pointer:
        if is_set(ner, name):
            yield f"ner.{name} has no effect: ner.head is {ner.head}"
    if ner.head == "softmax" and is_set(ner, "crf_learning_rate"):
        yield "ner.crf_learning_rate has no effect: ner.head is softmax"
    if is_pointer and ner.pointer_size % 2:
        yield f"ner.pointer_size is {ner.pointer_size}, expected an even number"


def _text_rules(config: RunConfig) -> Iterator[str]:
    if config.data.text != "text" and config.data.format in ("conll", "brat"):
        yield f"data.text has no effect: data.format is {config.data.format}, which names no fields"


def _named_rules(config: RunConfig) -> Iterator[str]:
    # Predictions have the shown names: a field that is about a value in the data would never be filled.
    known = None if config.labels is None else set(_names(config))
    rules = [("ner.rules", rule.name, (rule.label,)) for rule in config.ner.rules]
    fields = [("review.fields", field.name, field.labels) for field in config.review.fields]
    for (kind, name), count in Counter((kind, name) for kind, name, _ in (*rules, *fields)).items():
        if count > 1:
            yield f"{kind} names {name!r} twice"
    for kind, name, labels in (*rules, *fields):
        for label in labels:
            if known is not None and label not in known:
                yield f"{kind} {name!r} is about {label!r}, which is none of the labels' shown names"
    for field in config.review.fields:
        if field.doubt < field.threshold:
            yield f"review.fields {field.name!r}: doubt {field.doubt} is below its threshold {field.threshold}"


def _names(config: RunConfig) -> tuple[str, ...]:
    return tuple(config.labels.values()) if isinstance(config.labels, dict) else tuple(config.labels or ())
