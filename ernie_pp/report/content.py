"""What a report shows, as plain values: any task fills it, the page is drawn from it alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ernie_pp.partition.simulate import Timeline


@dataclass(frozen=True)
class Curve:
    """Lines over training steps: name of a line -> its (step, value) points."""

    title: str
    lines: Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class Table:
    """Named columns and rows of text and numbers (fractions are shown in percent where `percent` names them)."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    percent: frozenset[str] = frozenset()
    note: str = ""


@dataclass(frozen=True)
class Confusion:
    """`counts[i][j]`: rows truly labels[i] that were given labels[j]."""

    labels: Sequence[str]
    counts: Sequence[Sequence[int]]


@dataclass(frozen=True)
class Histogram:
    """How many values lie in each bin; `edges` has one more entry than `counts`. `limit` is drawn as a line."""

    title: str
    edges: Sequence[float]
    counts: Sequence[int]
    unit: str
    limit: float | None = None


@dataclass(frozen=True)
class Mistake:
    """A dev row that was answered wrongly, with how sure the model was of its answer."""

    place: str
    text: str
    true: str
    given: str
    probability: float


@dataclass(frozen=True)
class PlanPicture:
    """How a run was cut: the simulated step, the planned peak of each stage, and what was measured of both."""

    timeline: Timeline
    stage_bytes: Sequence[int]
    facts: Sequence[tuple[str, str]] = ()
    limit_bytes: int | None = None
    measured: Timeline | None = None
    measured_bytes: Sequence[int] | None = None


@dataclass(frozen=True)
class Content:
    """One run's report. `headline` is the figure people look for, with its interval; `facts` are (name, value)."""

    title: str
    headline: str
    headline_note: str
    facts: Sequence[tuple[str, str]]
    notes: Sequence[str] = ()
    curves: Sequence[Curve] = ()
    tables: Sequence[Table] = ()
    confusion: Confusion | None = None
    histograms: Sequence[Histogram] = ()
    mistakes: Sequence[Mistake] | None = ()  # None: nothing was answered
    plan: PlanPicture | None = None
    settings: str = ""  # the resolved config, as YAML
