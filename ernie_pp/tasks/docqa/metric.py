"""Figures of answers: those to questions that have one, and silence where there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from ernie_pp.data.questions.question import AnswerKind
from ernie_pp.errors import ConfigError
from ernie_pp.tasks.bootstrap import bootstrap_interval
from ernie_pp.tasks.curve import Curve, weighted_curve
from ernie_pp.tasks.docqa.scores import ScoreRules, em_score, f1_score

# Every mean: the score it averages, and the kinds of questions it is about.
_WITH_ANSWER: tuple[AnswerKind, ...] = ("span", "yes", "no")
MEANS: Mapping[str, tuple[str, tuple[AnswerKind, ...]]] = {
    "em": ("em", ("span", "none", "yes", "no")),
    "f1": ("f1", ("span", "none", "yes", "no")),
    "has_answer_em": ("em", _WITH_ANSWER),
    "has_answer_f1": ("f1", _WITH_ANSWER),
    "no_answer_em": ("em", ("none",)),
    "span_em": ("em", ("span",)),
    "span_f1": ("f1", ("span",)),
    "yes_no_accuracy": ("em", ("yes", "no")),
}
RECALLS = (0.8, 0.9)
RANKED = ("aupr", *(f"precision_at_recall_{100 * recall:.0f}" for recall in RECALLS))
KINDS: tuple[AnswerKind, ...] = ("span", "none", "yes", "no")
# The groups' names, each with the largest number it holds.
_REST = 1 << 60
ANSWER_LENGTHS = {"1-3": 3, "4-6": 6, "7-10": 10, "11-20": 20, "21-50": 50, "over 50": _REST}
DOCUMENT_LENGTHS = {
    "to 500": 500,
    "501-1000": 1000,
    "1001-2000": 2000,
    "2001-5000": 5000,
    "5001-10000": 10_000,
    "over 10000": _REST,
}
WINDOW_COUNTS = {"1": 1, "2": 2, "3-4": 4, "5-8": 8, "9-16": 16, "over 16": _REST}


@dataclass(frozen=True)
class Outcome:
    """One question: what is true of it, and what was answered.

    `given` is the answer as it is measured: a text, YES or NO, or empty for none. `best` is the best candidate, given
    or not; `score` is how sure it is that there is an answer, 0 to 1.
    """

    kind: AnswerKind
    golds: tuple[str, ...]
    given: str
    best: str
    score: float
    document_length: int
    num_windows: int


@dataclass(frozen=True)
class GroupFigures:
    """Exact match and F1 of a group of `num` questions."""

    name: str
    num: int
    em: float
    f1: float


@dataclass(frozen=True)
class Evaluation:
    """All figures of one evaluation; groups without a question are left out."""

    num_rows: int
    values: dict[str, float]
    headline: str
    interval: tuple[float, float]
    by_kind: tuple[GroupFigures, ...]
    by_answer_length: tuple[GroupFigures, ...]
    by_document_length: tuple[GroupFigures, ...]
    by_num_windows: tuple[GroupFigures, ...]

    def to_json(self) -> dict:
        """Plain values for metrics.json."""
        groups = ("by_kind", "by_answer_length", "by_document_length", "by_num_windows")
        return {
            "num_rows": self.num_rows,
            **self.values,
            "headline": self.headline,
            "interval_95": list(self.interval),
            **{name: [asdict(figures) for figures in getattr(self, name)] for name in groups},
        }


def metric_names() -> tuple[str, ...]:
    """The names `train.best_metric` may have."""
    return (*MEANS, *RANKED)


def headline_metric() -> str:
    """The figure that is meant when none is named."""
    return "f1"


def measure(
    outcomes: Sequence[Outcome],
    *,
    rules: ScoreRules,
    headline: str,
    seed: int = 0,
    others: Mapping[str, float] | None = None,
) -> Evaluation:
    """Figures of the answers to all questions.

    A question without an answer scores 1 where none is given, else 0; `no_answer_em` is their mean, `has_answer_...`
    those of all others. `aupr` and the precisions rank all questions by score, each right where its best candidate is
    an exact match; recall is of the questions with an answer. A figure about questions of which there are none is left
    out (ConfigError where it is the headline), and so is a precision at a recall that is never reached (0 as headline:
    a model may reach it later). `others` are figures that are measured elsewhere, shown with these.
    """
    table = _Table(outcomes, rules)
    figures = table.means() | table.ranked()
    if headline in RANKED and "aupr" in figures:
        figures.setdefault(headline, 0.0)
    if headline not in figures:
        raise _missing(headline, figures)
    return Evaluation(
        num_rows=len(outcomes),
        values={name: figures[name] for name in metric_names() if name in figures} | dict(others or {}),
        headline=headline,
        interval=table.interval(headline, seed=seed),
        by_kind=table.groups([one.kind for one in outcomes], KINDS),
        by_answer_length=table.groups([_answer_group(one) for one in outcomes], tuple(ANSWER_LENGTHS)),
        by_document_length=table.groups(
            [_group(one.document_length, DOCUMENT_LENGTHS) for one in outcomes], tuple(DOCUMENT_LENGTHS)
        ),
        by_num_windows=table.groups([_group(one.num_windows, WINDOW_COUNTS) for one in outcomes], tuple(WINDOW_COUNTS)),
    )


def best_answer_threshold(outcomes: Sequence[Outcome], rules: ScoreRules, target: Literal["em", "f1"]) -> float:
    """The threshold with the highest mean EM or F1 where `best` is given from it on, and nothing below it.

    Of equally good ones the nearest to 0.5, which it is too where there is no question.
    """
    if not outcomes:
        return 0.5
    pick = ("em", "f1").index(target)
    gains = np.array([answer_scores(o, o.best, rules)[pick] - answer_scores(o, "", rules)[pick] for o in outcomes])
    scores = np.array([one.score for one in outcomes], dtype=np.float64)
    order = np.argsort(-scores, kind="stable")
    ordered, sums = scores[order], np.cumsum(gains[order])
    # Each cut lies below one score and above the next smaller one; the first gives no answer at all.
    cuts = np.flatnonzero(np.append(ordered[1:] < ordered[:-1], True))
    above, below = np.append(1.0, ordered[cuts]), np.append(ordered[0], np.append(ordered, 0.0)[cuts + 1])
    values, middles = np.append(0.0, sums[cuts]), (above + below) / 2
    thresholds = np.where(middles > below, middles, above)  # two neighbouring floats have no middle
    # A score of 1 cannot be cut off, since no threshold is above it.
    values[0] = -np.inf if ordered[0] >= 1 else values[0]
    best = np.flatnonzero(values >= values.max() - 1e-9)
    return float(thresholds[best[np.argmin(np.abs(thresholds[best] - 0.5))]])


def answer_scores(outcome: Outcome, given: str, rules: ScoreRules) -> tuple[float, float]:
    """(EM, F1) of an answer to the outcome's question."""
    if outcome.kind == "span":
        return em_score(outcome.golds, given, rules), f1_score(outcome.golds, given, rules)
    right = float(given == "" if outcome.kind == "none" else given in outcome.golds)
    return right, right


class _Table:
    """The scores of all questions, as columns."""

    def __init__(self, outcomes: Sequence[Outcome], rules: ScoreRules) -> None:
        pairs = [answer_scores(one, one.given, rules) for one in outcomes]
        em, f1 = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        self._scores = {"em": em, "f1": f1}
        self._kinds = np.array([one.kind for one in outcomes], dtype=object)
        self._has_answer = self._kinds != "none"
        best = (_is_best_right(one, own, rules) for one, own in zip(outcomes, em, strict=True))
        is_right = np.fromiter(best, dtype=bool, count=len(outcomes))
        self._curve = weighted_curve(np.array([one.score for one in outcomes]), is_right, recalls=RECALLS)

    def means(self) -> dict[str, float]:
        """Every mean over at least one question."""
        parts = {name: self._part(name) for name in MEANS}
        return {name: float(part.mean()) for name, part in parts.items() if len(part)}

    def ranked(self) -> dict[str, float]:
        """The figures of all thresholds; none where no question has an answer."""
        if not self._has_answer.any():
            return {}
        values = _ranked_values(self._draw(np.ones(len(self._kinds))))
        return {name: value for name, value in values.items() if value is not None}

    def interval(self, headline: str, *, seed: int) -> tuple[float, float]:
        """Of a mean, drawn from the questions it is about; a recall never reached in a draw has precision 0."""
        if headline in MEANS:
            part = self._part(headline)
            return bootstrap_interval(lambda weights: weights @ part / len(part), len(part), seed=seed)

        def figure(weights: np.ndarray) -> np.ndarray:
            return np.array([_ranked_values(self._draw(one))[headline] or 0.0 for one in weights])

        return bootstrap_interval(figure, len(self._kinds), seed=seed)

    def groups(self, names: Sequence[str | None], order: Sequence[str]) -> tuple[GroupFigures, ...]:
        """Figures of the questions of each name, in this order."""
        column = np.array(names, dtype=object)
        members = {name: column == name for name in order}
        em, f1 = self._scores["em"], self._scores["f1"]
        return tuple(
            GroupFigures(name, int(own.sum()), float(em[own].mean()), float(f1[own].mean()))
            for name, own in members.items()
            if own.any()
        )

    def _part(self, name: str) -> np.ndarray:
        score, kinds = MEANS[name]
        return self._scores[score][np.isin(self._kinds.astype(str), kinds)]

    def _draw(self, weights: np.ndarray) -> Curve:
        return self._curve(weights, float(weights @ self._has_answer))


def _is_best_right(outcome: Outcome, em: float, rules: ScoreRules) -> bool:
    if outcome.kind == "none":
        return False
    return bool(em if outcome.best == outcome.given else answer_scores(outcome, outcome.best, rules)[0])


def _ranked_values(curve: Curve) -> dict[str, float | None]:
    return dict(
        zip(RANKED, (curve.average_precision, *(curve.precision_at[recall] for recall in RECALLS)), strict=True)
    )


def _answer_group(outcome: Outcome) -> str | None:
    return _group(min(map(len, outcome.golds)), ANSWER_LENGTHS) if outcome.kind == "span" else None


def _group(number: int, limits: Mapping[str, int]) -> str:
    return next(name for name, largest in limits.items() if number <= largest)


def _missing(headline: str, figures: Mapping[str, float]) -> ConfigError:
    return ConfigError(
        "train.best_metric",
        f"{headline} cannot be measured on these questions: there is none it is about",
        f"Choose one that can: {', '.join(name for name in metric_names() if name in figures)}.",
    )
