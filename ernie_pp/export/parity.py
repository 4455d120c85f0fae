"""How a reloaded bundle compares with the model on stored rows, and what it must keep to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from ernie_pp.errors import RunError
from ernie_pp.export.batches import Batch
from ernie_pp.export.formats import Target
from ernie_pp.export.sessions import Session
from ernie_pp.export.sessions.gpu import count_gpus
from ernie_pp.models.heads import MASKED

# A probability so near to its threshold is rounded to either side of it.
MARGIN = 1e-4


class Decide(Protocol):
    """By output, the batch it is of, decode settings and how much higher thresholds are: what each row is given."""

    def __call__(
        self, logits: np.ndarray, batch: Batch, settings: Any, *, margin: float = ...
    ) -> Sequence[frozenset]: ...


@dataclass(frozen=True)
class ModelAnswers:
    """What the model itself gives for a batch."""

    logits: np.ndarray
    batch: Batch


@dataclass(frozen=True)
class DevFigure:
    """How the dev split is measured: the figure's name, and its value for the model and for a loaded bundle.

    Values are from 0 to 1, higher is better; a bundle's needs its decode settings. `max_loss` is in points, hundredths.
    """

    name: str
    of_model: Callable[[], float]
    of_bundle: Callable[[Session, Any], float]
    max_loss: float


@dataclass(frozen=True)
class Limits:
    """What a bundle must keep to: fp32 to the tolerance and every decision, all to the dev figure."""

    precision: str
    tolerance: float
    max_loss: float | None

    @staticmethod
    def of(target: Target, *, tolerance: float, dev: DevFigure | None) -> Limits:
        """Those of a target; `dev` is measured or not. What fp16 is for is a GPU: without one it is fp32."""
        precision = "fp32" if target.precision == "fp16" and count_gpus() == 0 else target.precision
        return Limits(precision, tolerance, None if dev is None else dev.max_loss)


@dataclass(frozen=True)
class Parity:
    """The comparison: logits and decisions of `num_rows` rows, and the dev figure of both (none: not measured)."""

    limits: Limits
    num_rows: int
    max_logit_difference: float
    num_different_decisions: int
    largest_logit: float = 1.0
    dev_figure: str | None = None
    dev_model: float | None = None
    dev_bundle: float | None = None

    @property
    def allowed(self) -> float:
        """The tolerance, in which numbers of another size than 1 are rounded as coarsely as they are large."""
        return self.limits.tolerance * max(1.0, self.largest_logit)

    @property
    def lost(self) -> float | None:
        """Points (hundredths) of the dev figure that the bundle loses; below 0 where it gains."""
        if self.dev_model is None or self.dev_bundle is None:
            return None
        return 100 * (self.dev_model - self.dev_bundle)

    def problems(self) -> list[str]:
        """Why the bundle is not kept; nothing where it is."""
        found = []
        is_exact = self.limits.precision == "fp32"
        if is_exact and (self.max_logit_difference > self.allowed or self.num_different_decisions):
            found.append(
                f"largest logit difference {self.max_logit_difference:.2e} (allowed {self.allowed:.0e}), "
                f"{self.num_different_decisions} of {self.num_rows} rows decided otherwise"
            )
        if self.lost is not None and self.limits.max_loss is not None and self.lost > self.limits.max_loss:
            found.append(
                f"dev {self.dev_figure} {self.dev_bundle:.4f} instead of {self.dev_model:.4f}: "
                f"{self.lost:.2f} points lost (allowed {self.limits.max_loss:g})"
            )
        return found

    def to_json(self) -> dict:
        """For the manifest."""
        values = {name: value for name, value in asdict(self).items() if name != "limits"}
        return {
            **values,
            "precision": self.limits.precision,
            "tolerance": self.limits.tolerance,
            "max_loss": self.limits.max_loss,
        }


def compare(
    model: Sequence[ModelAnswers], logits: Sequence[np.ndarray], decode: Any, decide: Decide, *, limits: Limits
) -> Parity:
    """The comparison on stored rows; the dev figure is not in it yet."""
    differences, num_different, largest = [0.0], 0, 0.0
    for ours, theirs in zip(model, logits, strict=True):
        is_real = ours.logits > MASKED
        differences.append(float(np.abs(ours.logits - theirs)[is_real].max(initial=0.0)))
        differences.append(0.0 if (theirs[~is_real] < MASKED / 2).all() else float("inf"))
        largest = max(largest, float(np.abs(ours.logits[is_real]).max(initial=0.0)))
        num_different += _count_different(ours, theirs, decode, decide)
    num_rows = sum(len(one.batch[0]) for one in model)
    return Parity(limits, num_rows, max(differences), num_different, largest)


def check(parity: Parity, *, where: str) -> None:
    """RunError with the measured figures where the bundle is not to be kept."""
    problems = parity.problems()
    if not problems:
        return
    advice = "Please report this with your versions."
    if parity.limits.precision != "fp32":
        advice = "Take another --precision or --format, or allow more with export.max_loss."
    what = "does not answer like the model: " + "; ".join(problems)
    raise RunError(where, what, f"The bundle was not written. {advice}")


def describe(parity: Parity) -> str:
    """One phrase on it."""
    rows = f"{parity.num_rows} row{'' if parity.num_rows == 1 else 's'} checked"
    parts = [f"{rows}, largest logit difference {parity.max_logit_difference:.1e}"]
    if parity.num_different_decisions:
        parts.append(f"{parity.num_different_decisions} decided otherwise")
    if parity.dev_figure is not None:
        parts.append(f"dev {parity.dev_figure} {parity.dev_bundle:.4f} (model {parity.dev_model:.4f})")
    return ", ".join(parts)


def _count_different(model: ModelAnswers, logits: np.ndarray, decoding: Any, decide: Decide) -> int:
    """Rows where one of the two surely gives what the other does not even come near to giving."""
    sure, near = (
        [decide(one, model.batch, decoding, margin=margin) for one in (model.logits, logits)]
        for margin in (MARGIN, -MARGIN)
    )
    same = zip(sure[0], near[1], sure[1], near[0], strict=True)
    return sum(
        not (ours <= may_be_theirs and theirs <= may_be_ours) for ours, may_be_theirs, theirs, may_be_ours in same
    )
