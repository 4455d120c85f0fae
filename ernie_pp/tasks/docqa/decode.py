"""From the windows' candidates to one answer a question, in the user's own text. numpy only: serving uses it too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks.docqa.edges import whole_characters
from ernie_pp.tasks.docqa.prediction import FoundAnswer, Prediction, yes_or_no
from ernie_pp.tasks.docqa.settings import DecodeSettings
from ernie_pp.tasks.docqa.windows import Place, WindowAnswer, candidate_scores, find_candidates, near_candidates

__all__ = [
    "DecodeSettings",
    "Prediction",
    "condense",
    "decide",
    "decode",
    "decode_question",
    "for_bundle",
    "merge_windows",
]
_DIGITS = 6
# Two scores tie that are ten times as far apart as probabilities may be: a score sums four logits, often well above 1.
_SCORE_MARGIN = 10


def condense(logits: np.ndarray, rows: TokenRows, settings: DecodeSettings) -> list[WindowAnswer]:
    """The best candidates of each row; no threshold is used yet."""
    return find_candidates(logits, rows, settings)


def decode(
    answers: Sequence[WindowAnswer], rows: TokenRows, texts: Sequence[str], settings: DecodeSettings
) -> list[Prediction]:
    """One Prediction a question; `texts` are the documents."""
    assert rows.example_index is not None, "documents are read in windows"
    bounds = np.searchsorted(rows.example_index, np.arange(len(texts) + 1)).tolist()
    return [
        decode_question(answers[start:end], document, settings)
        for document, start, end in zip(texts, bounds, bounds[1:], strict=False)
    ]


def decode_question(answers: Sequence[WindowAnswer], document: str, settings: DecodeSettings) -> Prediction:
    """The answer to one question, from all windows of its document.

    A span that several windows see has the best of their scores, and so has one that tokens give in several ways.
    Probabilities are shares of exp(score) among the candidates that are listed and "no answer", whose score is 0.
    """
    ordered = candidate_scores(merge_windows(answers, document, settings))
    ordered = sorted(ordered, key=lambda item: (-item[1], item[0]))[: settings.num_best]
    if not ordered:
        return Prediction("none", 0.0, (), document)
    shares = _shares([score for _, score in ordered])
    found = [_found(place, share, document) for (place, _), share in zip(ordered, shares, strict=True)]
    score = probability(ordered[0][1])
    kind = found[0].kind if score >= settings.threshold else "none"
    return Prediction(kind, round(score, _DIGITS), tuple(found), document)


def merge_windows(answers: Sequence[WindowAnswer], document: str, settings: DecodeSettings) -> WindowAnswer:
    """The `num_best` candidates of several windows of a document as those of one.

    Merging what was merged gives the same, so that a long document needs no memory for the answers of all its windows.
    """
    scores: dict[Place, float] = {}
    for answer in answers:
        for tokens, score in candidate_scores(answer):
            place = tokens if tokens[0] < 0 else whole_characters(document, *tokens)
            scores[place] = max(score, scores.get(place, score))
    others = tuple(score for place, score in sorted(scores.items(), reverse=True) if place[0] < 0)
    spans = sorted((-score, place) for place, score in scores.items() if place[0] >= 0)[: settings.num_best]
    places = np.array([place for _, place in spans], dtype=np.int64).reshape(-1, 2)
    return WindowAnswer(places[:, 0], places[:, 1], np.array([-score for score, _ in spans]), others)


def for_bundle(settings: DecodeSettings, weights: Mapping[str, np.ndarray]) -> DecodeSettings:
    """The settings of an exported program: it gives all that they need."""
    return settings


def decide(
    logits: np.ndarray, rows: TokenRows, settings: DecodeSettings, *, margin: float = 0.0
) -> list[frozenset[Place]]:
    """What each window answers: the candidate that beats all others, and the threshold, by `margin`.

    With a negative margin: each that comes so near to it. All spans compete, also those that no prediction lists.
    """
    near = near_candidates(logits, rows, settings, within=_SCORE_MARGIN * abs(margin))
    return [_decided(found, settings.threshold + margin, margin) for found in near]


def probability(score: float) -> float:
    """How sure a candidate of this score is an answer, against none: the logistic function."""
    return float(0.5 * (1.0 + np.tanh(0.5 * score)))


def _decided(near: Mapping[Place, float], threshold: float, margin: float) -> frozenset[Place]:
    if margin > 0 and len(near) > 1:
        return frozenset()
    return frozenset(place for place, score in near.items() if probability(score) >= threshold)


def _shares(scores: Sequence[float]) -> list[float]:
    largest = max(0.0, *scores)
    exponents = np.exp(np.array(scores) - largest)
    return (exponents / (exponents.sum() + np.exp(-largest))).tolist()


def _found(place: Place, share: float, document: str) -> FoundAnswer:
    share = round(share, _DIGITS)
    if place[0] < 0:
        kind = "yes" if place[0] == -1 else "no"
        return FoundAnswer(kind, yes_or_no(kind), share)
    return FoundAnswer("span", document[slice(*place)], share, *place)
