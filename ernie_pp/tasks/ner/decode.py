"""From the model's output to entities in the user's own text. numpy only: serving uses it too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ernie_pp.data.entities.document import Mention
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks.ner.chain import Chain, split_emissions
from ernie_pp.tasks.ner.rules import Rule, RuleFinder
from ernie_pp.tasks.ner.settings import DecodeSettings
from ernie_pp.tasks.ner.spans import RowSpans, pointer_spans
from ernie_pp.text.merging import merge_spans, without_overlaps

__all__ = ["DecodeSettings", "Prediction", "condense", "decide", "decode", "for_bundle", "model_mentions"]
_DIGITS = 6


@dataclass(frozen=True)
class Prediction:
    """The entities of one text, in order; each knows its probability, and what found it."""

    text: str
    mentions: tuple[Mention, ...]

    def to_fields(self) -> dict[str, object]:
        """The fields `predict` adds to a row."""
        return {"entities": [_fields(self.text, mention) for mention in self.mentions]}


def condense(logits: np.ndarray, rows: TokenRows, settings: DecodeSettings) -> list[RowSpans]:
    """The spans of each row of the head's output, with their probabilities; no threshold is used yet."""
    return find_spans(logits, rows.lengths, settings)


def find_spans(logits: np.ndarray, lengths: np.ndarray, settings: DecodeSettings) -> list[RowSpans]:
    """As `condense`, of rows of so many tokens."""
    if settings.head == "global_pointer":
        return pointer_spans(logits, lengths)
    if settings.head == "softmax" or settings.chain is not None:
        return settings.tags.decode(logits, lengths, settings.chain)
    emissions, chain = split_emissions(logits)
    return settings.tags.decode(emissions, lengths, chain)


def decode(
    answers: Sequence[RowSpans], rows: TokenRows, texts: Sequence[str], settings: DecodeSettings
) -> list[Prediction]:
    """One Prediction a text: what its windows found, merged by place, then what the rules add and veto."""
    finder = _finder(settings.rules)
    found = zip(texts, model_mentions(answers, rows, texts, settings), strict=True)
    nested = settings.is_nested
    return [Prediction(text, finder.apply(text, mentions, nested=nested)) for text, mentions in found]


def model_mentions(
    answers: Sequence[RowSpans], rows: TokenRows, texts: Sequence[str], settings: DecodeSettings
) -> Iterator[list[Mention]]:
    """The model's own entities of each text, in order of their places."""
    first_rows = _first_rows(rows, len(texts))
    for index in range(len(texts)):
        own = range(first_rows[index], first_rows[index + 1])
        yield _merged([(answers[row], _offsets(rows, row)) for row in own], settings)


def for_bundle(settings: DecodeSettings, weights: Mapping[str, np.ndarray]) -> DecodeSettings:
    """The settings of an exported program: a CRF's gives emissions alone, and its transitions stand here."""
    if settings.head != "crf":
        return settings
    start, transitions, end = (weights[f"crf.{name}"].astype(np.float64) for name in ("start", "transitions", "end"))
    return settings.with_chain(Chain(start, transitions, end))


def decide(
    logits: np.ndarray, rows: TokenRows, settings: DecodeSettings, *, margin: float = 0.0
) -> list[frozenset[tuple[int, int, int]]]:
    """(first token, last token, type) of each row's entities, of a bundle's output; thresholds are `margin` higher."""
    return [frozenset(_passing(spans, settings, margin).places()) for spans in condense(logits, rows, settings)]


def _passing(spans: RowSpans, settings: DecodeSettings, margin: float = 0.0) -> RowSpans:
    """Those that reach the threshold of their type."""
    if not settings.thresholds or not len(spans):
        return spans
    return spans.select(spans.score >= np.asarray(settings.thresholds)[spans.kind] + margin)


def _merged(windows: Sequence[tuple[RowSpans, np.ndarray]], settings: DecodeSettings) -> list[Mention]:
    """One text's entities from its windows' spans and offsets [tokens, 2]."""
    mentions: list[Mention] = []
    window_of: list[int] = []
    for number, (spans, offsets) in enumerate(windows):
        passing = _passing(spans, settings)
        for first, last, kind, score in zip(passing.first, passing.last, passing.kind, passing.score, strict=True):
            start, end = int(offsets[first, 0]), int(offsets[last, 1])
            mentions.append(Mention(start, end, settings.labels[kind], round(float(score), _DIGITS)))
            window_of.append(number)
    if len(windows) > 1:
        ranges = [_range(offsets) for _, offsets in windows]
        kept = merge_spans([(one.start, one.end) for one in mentions], window_of, ranges)
        mentions = [mentions[index] for index in kept]
    if not settings.is_nested:
        places = [(one.start, one.end) for one in mentions]
        mentions = [mentions[index] for index in without_overlaps(places, [one.score for one in mentions])]
    return sorted(mentions)


def _first_rows(rows: TokenRows, num_texts: int) -> list[int]:
    """The first row of each text, and the number of all rows."""
    if rows.example_index is None:
        return list(range(num_texts + 1))
    return np.searchsorted(rows.example_index, np.arange(num_texts + 1)).tolist()


def _offsets(rows: TokenRows, row: int) -> np.ndarray:
    assert rows.offsets is not None, "entities are encoded with offsets"
    return rows.offsets[rows.row_starts[row] : rows.row_starts[row + 1]]


def _range(offsets: np.ndarray) -> tuple[int, int]:
    """Characters from the first token of a window to its last; [CLS] and [SEP] are around them."""
    return int(offsets[1, 0]), int(offsets[-2, 1])


def _fields(text: str, mention: Mention) -> dict[str, object]:
    values = {"start": mention.start, "end": mention.end, "label": mention.label}
    return {**values, "text": text[mention.start : mention.end], "score": mention.score, "source": mention.source}


@lru_cache(maxsize=8)
def _finder(rules: tuple[Rule, ...]) -> RuleFinder:
    return RuleFinder(rules)
