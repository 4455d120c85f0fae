"""Figures of entities: right are those whose place and type are both right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from ernie_pp.data.entities.document import Entity
from ernie_pp.tasks.bootstrap import bootstrap_interval
from ernie_pp.tasks.ner.errors import ErrorCounts, count_errors

AVERAGES = ("micro", "macro", "weighted")
NAMES = (
    *(f"{average}_{measure}" for average in AVERAGES for measure in ("precision", "recall", "f1")),
    "boundary_f1",
    "type_accuracy",
    "flat_f1",
    "nested_f1",
)
# Characters of an entity, by the longest of each group.
LENGTHS = {"1": 1, "2-3": 3, "4-6": 6, "7-10": 10, "11-20": 20, "over 20": 1 << 30}
Place = tuple[int, int, str]


@dataclass(frozen=True)
class GroupFigures:
    """Precision, recall and F1 of one type, or of one group of lengths; `support` are true, `given` predicted ones."""

    name: str
    precision: float
    recall: float
    f1: float
    support: int
    given: int


@dataclass(frozen=True)
class Evaluation:
    """All figures of one evaluation."""

    num_rows: int
    values: dict[str, float]
    headline: str
    interval: tuple[float, float]
    per_type: tuple[GroupFigures, ...]
    by_length: tuple[GroupFigures, ...]
    errors: ErrorCounts

    def to_json(self) -> dict:
        """Plain values for metrics.json."""
        return {
            "num_rows": self.num_rows,
            **self.values,
            "headline": self.headline,
            "interval_95": list(self.interval),
            "per_type": [asdict(figures) for figures in self.per_type],
            "by_length": [asdict(figures) for figures in self.by_length],
            "errors": asdict(self.errors),
        }


def metric_names() -> tuple[str, ...]:
    """The names `train.best_metric` may have."""
    return NAMES


def headline_metric() -> str:
    """The figure that is meant when none is named."""
    return "micro_f1"


def measure(
    gold: Sequence[Sequence[Entity]],
    given: Sequence[Sequence[Entity]],
    types: Sequence[str],
    *,
    headline: str,
    seed: int = 0,
) -> Evaluation:
    """Figures of the entities given for each document against the true ones.

    Micro counts every entity alike, macro every type that occurs, weighted every type by its true entities: the
    figures of seqeval in strict mode for BIO. A share of nothing is 0, and F1 is 0 where nothing is right.
    `boundary_f1` asks for the place alone, `type_accuracy` how many right places have the right type; `nested_f1` and
    `flat_f1` are those of true entities that overlap another one, and of the others: a wrong one counts for the kind
    it is itself among the predicted.
    """
    true, found = ([_places(one) for one in side] for side in (gold, given))
    numbers = {label: number for number, label in enumerate(types)}
    by_type = _counts(true, found, len(types), lambda place: numbers[place[2]])  # [documents, 3, types]
    by_length = _counts(true, found, len(LENGTHS), _length_group).sum(axis=0)
    values = _averages(by_type.sum(axis=0)[None])
    figures = {name: float(value[0]) for name, value in values.items()}
    figures |= _of_places(true, found)
    bounded = _interval_figure(headline, by_type, true, found)
    return Evaluation(
        num_rows=len(true),
        values={name: figures[name] for name in NAMES},
        headline=headline,
        interval=bootstrap_interval(bounded, len(true), seed=seed),
        per_type=_groups(by_type.sum(axis=0), types),
        by_length=_groups(by_length, tuple(LENGTHS)),
        errors=count_errors(true, found),
    )


def _places(entities: Sequence[Entity]) -> set[Place]:
    return {(entity.start, entity.end, entity.label) for entity in entities}


def _counts(
    true: Sequence[set[Place]], found: Sequence[set[Place]], num_groups: int, group_of: Callable[[Place], int]
) -> np.ndarray:
    """float64 [documents, 3 (right, given, true), groups] of the entities of each group."""
    table = np.zeros((len(true), 3, num_groups))
    for document, (gold, given) in enumerate(zip(true, found, strict=True)):
        for kind, places in enumerate((gold & given, given, gold)):
            for place in places:
                table[document, kind, group_of(place)] += 1
    return table


def _length_group(place: Place) -> int:
    return next(number for number, longest in enumerate(LENGTHS.values()) if place[1] - place[0] <= longest)


def _averages(counts: np.ndarray) -> dict[str, np.ndarray]:
    """Figures of counts [resamples, 3 (right, given, true), types]; types that do not occur are no part of macro."""
    right, given, true = counts[:, 0], counts[:, 1], counts[:, 2]
    own = _shares(right, given, true)
    occurs = ((given + true) > 0).astype(np.float64)
    weights = {"macro": occurs, "weighted": true}
    values = {f"micro_{name}": value for name, value in _named(right.sum(1), given.sum(1), true.sum(1)).items()}
    for average, weight in weights.items():
        total = np.maximum(weight.sum(axis=1), 1e-12)
        for name, value in zip(("precision", "recall", "f1"), own, strict=True):
            values[f"{average}_{name}"] = (value * weight).sum(axis=1) / total
    return values


def _named(right: np.ndarray, given: np.ndarray, true: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(("precision", "recall", "f1"), _shares(right, given, true), strict=True))


def _shares(right: np.ndarray, given: np.ndarray, true: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Precision, recall and F1; 0 where there is nothing to divide by."""
    return (
        right / np.maximum(given, 1e-12),
        right / np.maximum(true, 1e-12),
        2 * right / np.maximum(given + true, 1e-12),
    )


def _of_places(true: Sequence[set[Place]], found: Sequence[set[Place]]) -> dict[str, float]:
    """The figures that look at places: borders alone, and entities that overlap others."""
    gold, given = ([{place[:2] for place in one} for one in side] for side in (true, found))
    right = sum(len(a & b) for a, b in zip(gold, given, strict=True))
    typed = sum(len({p[:2] for p in a & b}) for a, b in zip(true, found, strict=True))
    values = {
        "boundary_f1": _f1(right, sum(map(len, given)), sum(map(len, gold))),
        "type_accuracy": typed / right if right else 0.0,
    }
    for name, wanted in (("nested_f1", True), ("flat_f1", False)):
        pairs = [_of_kind(a, b, wanted) for a, b in zip(true, found, strict=True)]
        sizes = np.array([(len(a & b), len(b), len(a)) for a, b in pairs]).reshape(-1, 3).sum(axis=0)
        values[name] = _f1(*sizes.tolist())
    return values


def _of_kind(true: set[Place], found: set[Place], wanted: bool) -> tuple[set[Place], set[Place]]:
    """The true entities that overlap others (or do not), and what was given for them; wrong ones by their own kind."""
    gold = _nested(true, wanted)
    return gold, (found & gold) | (_nested(found, wanted) - true)


def _nested(places: set[Place], wanted: bool) -> set[Place]:
    """Those that overlap another one, or those that do not."""
    ordered = sorted(places)
    overlapping: set[Place] = set()
    open_ones: list[Place] = []
    for place in ordered:
        open_ones = [one for one in open_ones if one[1] > place[0]]
        if open_ones:
            overlapping.update(open_ones, [place])
        open_ones.append(place)
    return overlapping if wanted else places - overlapping


def _f1(right: float, given: float, true: float) -> float:
    return 2 * right / (given + true) if given + true else 0.0


def _groups(counts: np.ndarray, names: Sequence[str]) -> tuple[GroupFigures, ...]:
    """Figures of counts [3 (right, given, true), groups]."""
    columns = zip(names, *_shares(counts[0], counts[1], counts[2]), counts[2], counts[1], strict=True)
    return tuple(
        GroupFigures(name, float(precision), float(recall), float(f1), int(true), int(given))
        for name, precision, recall, f1, true, given in columns
    )


def _interval_figure(
    headline: str, by_type: np.ndarray, true: Sequence[set[Place]], found: Sequence[set[Place]]
) -> Callable[[np.ndarray], np.ndarray]:
    """What the bootstrap resamples: the headline where types decide it, else micro F1 of what it counts."""
    flat = by_type.reshape(len(by_type), -1)

    def figure(weights: np.ndarray) -> np.ndarray:
        return _averages((weights @ flat).reshape(len(weights), 3, -1))[headline]

    if headline.split("_")[0] in AVERAGES:
        return figure
    counts = np.array([_counts_for(headline, a, b) for a, b in zip(true, found, strict=True)]).reshape(-1, 2)

    def ratio(weights: np.ndarray) -> np.ndarray:
        above, below = (weights @ counts).T
        return above / np.maximum(below, 1e-12)

    return ratio


def _counts_for(headline: str, true: set[Place], found: set[Place]) -> tuple[float, float]:
    """(numerator, denominator) of one document's part of a figure about places."""
    gold, given = {p[:2] for p in true}, {p[:2] for p in found}
    if headline == "boundary_f1":
        return 2.0 * len(gold & given), float(len(gold) + len(given))
    if headline == "type_accuracy":
        return float(len({p[:2] for p in true & found})), float(len(gold & given))
    own, other = _of_kind(true, found, headline == "nested_f1")
    return 2.0 * len(own & other), float(len(own) + len(other))
