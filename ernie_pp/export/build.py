"""From a model folder to a checked bundle."""

from __future__ import annotations

import importlib.metadata
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import paddle
from paddle.version import full_version as paddle_version

from ernie_pp import __version__
from ernie_pp.durable import replaced_folder
from ernie_pp.errors import RunError
from ernie_pp.export.bundle import write_manifest
from ernie_pp.export.check import Batch, logits_of_bundle
from ernie_pp.export.trace import INPUTS, trace
from ernie_pp.models.ernie import build_paddlenlp_classifier, load_classifier
from ernie_pp.text import Tokenizer

LOG = logging.getLogger("ernie_pp")


@dataclass(frozen=True)
class Parity:
    """How the reloaded bundle compared with the model on real rows."""

    num_rows: int
    max_logit_difference: float
    num_different_decisions: int
    tolerance: float

    @property
    def is_good(self) -> bool:
        """Within the tolerance, and the same decision for every row."""
        return self.max_logit_difference <= self.tolerance and self.num_different_decisions == 0


@dataclass(frozen=True)
class ExportRequest:
    """What to export and how strictly to check it. `decide` turns logits into the task's decisions, row by row."""

    model: Path
    bundle: Path
    settings: Mapping
    batches: Sequence[Batch]
    decide: Callable[[np.ndarray], np.ndarray]
    tolerance: float


def build_bundle(request: ExportRequest) -> Parity:
    """Write the bundle; RunError with the measured figure, and no bundle, where it does not answer like the model."""
    stack = load_classifier(request.model)
    expected = [_eager_logits(stack, batch) for batch in request.batches]
    with replaced_folder(request.bundle) as folder:
        # Saving changes the model it saves: a fresh copy of the weights is traced.
        trace(build_paddlenlp_classifier(stack), folder)
        Tokenizer.from_folder(request.model).save(folder)
        manifest = _manifest(request, expected)
        write_manifest(folder, manifest)
        parity = _compare(request, expected, logits_of_bundle(folder, request.batches))
        write_manifest(folder, {**manifest, "parity": asdict(parity)})
    LOG.info(
        "bundle checked in Paddle Inference: %d rows, largest logit difference %.1e, same decisions",
        parity.num_rows,
        parity.max_logit_difference,
    )
    return parity


def _eager_logits(stack: object, batch: Batch) -> np.ndarray:
    with paddle.no_grad():
        return stack(*map(paddle.to_tensor, batch)).numpy()  # type: ignore[operator]


def _compare(request: ExportRequest, expected: Sequence[np.ndarray], got: Sequence[np.ndarray]) -> Parity:
    differences = [np.abs(a - b).max() for a, b in zip(expected, got, strict=True)]
    pairs = [(request.decide(a), request.decide(b)) for a, b in zip(expected, got, strict=True)]
    decisions = [(model != bundle).any(axis=-1).sum() for model, bundle in pairs]
    num_rows = sum(len(logits) for logits in expected)
    parity = Parity(num_rows, float(max(differences)), int(sum(decisions)), request.tolerance)
    if not parity.is_good:
        what = (
            f"does not answer like the model: largest logit difference {parity.max_logit_difference:.2e} "
            f"(allowed {parity.tolerance:.0e}), {parity.num_different_decisions} of {num_rows} rows decided otherwise"
        )
        raise RunError(str(request.bundle), what, "The bundle was not written. Please report this with your versions.")
    return parity


def _manifest(request: ExportRequest, expected: Sequence[np.ndarray]) -> dict:
    settings = request.settings
    tokenizers = importlib.metadata.version("tokenizers")
    versions = {"ernie_pp": __version__, "paddle": paddle_version, "tokenizers": tokenizers}
    kept = {name: settings[name] for name in ("task", "text", "columns", "decode", "step", "dev")}
    outputs = [{"name": "logits", "dtype": "float32", "shape": [None, *expected[0].shape[1:]]}]
    return {
        **kept,
        "precision": "fp32",
        "ir": "pir",
        "inputs": list(INPUTS),
        "input_dtype": "int64",
        "input_shape": [None, None],
        "outputs": outputs,
        "versions": versions,
    }
