"""From a model folder of ours to its checked bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ernie_pp.data.batches import rows_of_batch
from ernie_pp.export.batches import Batch
from ernie_pp.export.build import ExportRequest, build_bundle
from ernie_pp.export.formats import Target
from ernie_pp.export.parity import DevFigure, Parity
from ernie_pp.jobs.trained import Trained, open_trained, read_check_rows
from ernie_pp.tasks import load_codec
from ernie_pp.training.home import scratch_home


@dataclass(frozen=True)
class MeasuredBy:
    """What of a run's rows an export is made and measured with beside the stored ones.

    `calibration` are rows to quantise by, `dev` measures the dev split, `shapes` are the sizes of batches there.
    """

    calibration: Sequence[Batch] = ()
    dev: DevFigure | None = None
    shapes: Mapping[str, Sequence[int]] | None = None


def export_model(
    model: Path, bundle: Path, *, tolerance: float, target: Target | None = None, rows: MeasuredBy | None = None
) -> Parity:
    """Export a model folder of ours, checked on the dev rows that were stored with it.

    `target`: none: Paddle Inference in fp32; `rows`: none: the stored rows alone.
    """
    rows = rows or MeasuredBy()
    trained = open_trained(model)
    decode = load_codec(trained.settings["task"]).decode

    # Paddle keeps the code it traces in the home folder.
    with scratch_home():
        return build_bundle(
            ExportRequest(
                model=model,
                bundle=bundle,
                target=target or Target(),
                settings=trained.settings,
                batches=read_check_rows(trained),
                head=trained.head,
                decoding_of=lambda weights: decode.for_bundle(trained.decoding, weights),
                decide=_decide_of(trained),
                tolerance=tolerance,
                calibration=rows.calibration,
                dev=rows.dev,
                shapes=rows.shapes,
            )
        )


def _decide_of(trained: Trained) -> Any:
    decode, pad_id = load_codec(trained.settings["task"]).decode, trained.sizes.get("pad_token_id", 0)

    def decide(logits: np.ndarray, batch: Batch, settings: Any, *, margin: float = 0.0) -> Sequence[frozenset]:
        return decode.decide(logits, rows_of_batch(*batch, pad_id=pad_id), settings, margin=margin)

    return decide


def pick_check_rows(lengths: np.ndarray, count: int) -> np.ndarray:
    """Indexes of rows spread evenly over all lengths, the shortest and the longest among them."""
    order = np.argsort(lengths, kind="stable")
    places = np.linspace(0, len(order) - 1, min(count, len(order))).round().astype(np.int64)
    return order[np.unique(places)]
