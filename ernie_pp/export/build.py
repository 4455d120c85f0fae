"""From a model folder to a checked bundle."""

from __future__ import annotations

import importlib.metadata
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import paddle
from paddle.version import full_version as paddle_version

from ernie_pp import __version__
from ernie_pp.durable import replaced_folder
from ernie_pp.errors import RunError
from ernie_pp.export.bundle import write_manifest
from ernie_pp.export.check import Batch, logits_of_bundle
from ernie_pp.export.trace import INPUTS, trace
from ernie_pp.models.ernie import copy_for_export, load_stack
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.heads import MASKED
from ernie_pp.models.stack import ErnieStack
from ernie_pp.text import Tokenizer

LOG = logging.getLogger("ernie_pp")
# By head; None: as many as there are rows, or tokens.
_OUTPUT_SHAPES: dict[str, Callable[[HeadSpec], list[int | None]]] = {
    "classification": lambda head: [None, head.num_outputs],
    "softmax": lambda head: [None, None, head.num_outputs],
    "crf": lambda head: [None, None, head.num_outputs],
    "global_pointer": lambda head: [None, head.num_outputs, None, None],
    "answer_span": lambda head: [None, None, head.num_outputs],
}


# A probability so near to its threshold is rounded to either side of it.
MARGIN = 1e-4


class Decide(Protocol):
    """By output, the batch it is of, decode settings and how much higher thresholds are: what each row is given."""

    def __call__(
        self, logits: np.ndarray, batch: Batch, settings: Any, *, margin: float = ...
    ) -> Sequence[frozenset]: ...


class Decoding(Protocol):
    """A task's decode settings."""

    def to_json(self) -> dict: ...


@dataclass(frozen=True)
class Parity:
    """How the reloaded bundle compared with the model on real rows."""

    num_rows: int
    max_logit_difference: float
    num_different_decisions: int
    tolerance: float
    largest_logit: float = 1.0

    @property
    def allowed(self) -> float:
        """The tolerance, in which numbers of another size than 1 are rounded as coarsely as they are large."""
        return self.tolerance * max(1.0, self.largest_logit)

    @property
    def is_good(self) -> bool:
        """Within the tolerance, and the same decision for every row."""
        return self.max_logit_difference <= self.allowed and self.num_different_decisions == 0


@dataclass(frozen=True)
class ExportRequest:
    """What to export and how strictly to check it.

    `decoding_of` gives the bundle's decode settings by the model's weights; `decide` gives the task's
    decisions, to be compared.
    """

    model: Path
    bundle: Path
    settings: Mapping
    head: HeadSpec
    batches: Sequence[Batch]
    decoding_of: Callable[[Mapping[str, np.ndarray]], Decoding]
    decide: Decide
    tolerance: float


@dataclass(frozen=True)
class _Answers:
    """What a model gives for a batch."""

    logits: np.ndarray
    batch: Batch


def build_bundle(request: ExportRequest) -> Parity:
    """Write the bundle; RunError with the measured figure, and no bundle, where it does not answer like the model."""
    stack = load_stack(request.model, request.head)
    expected = [_eager_logits(stack, batch) for batch in request.batches]
    decoding = request.decoding_of(stack.state())
    with replaced_folder(request.bundle) as folder:
        # Saving changes the model it saves: a fresh copy of the weights is traced.
        trace(*copy_for_export(stack), folder)
        Tokenizer.from_folder(request.model).save(folder)
        manifest = _manifest(request, decoding)
        write_manifest(folder, manifest)
        parity = _compare(request, decoding, expected, logits_of_bundle(folder, request.batches))
        write_manifest(folder, {**manifest, "parity": asdict(parity)})
    LOG.info(
        "bundle checked in Paddle Inference: %d rows, largest logit difference %.1e, same decisions",
        parity.num_rows,
        parity.max_logit_difference,
    )
    return parity


def _eager_logits(stack: ErnieStack, batch: Batch) -> _Answers:
    with paddle.no_grad():
        logits = stack(*map(paddle.to_tensor, batch)).numpy()
    # A CRF's transitions stand below the emissions; a bundle has them in its manifest.
    is_crf = stack.head_spec.kind == "crf"
    return _Answers(logits[:, : batch[0].shape[1]] if is_crf else logits, batch)


def _compare(
    request: ExportRequest, decoding: Decoding, expected: Sequence[_Answers], got: Sequence[np.ndarray]
) -> Parity:
    differences, num_different, largest = [0.0], 0, 0.0
    for model, logits in zip(expected, got, strict=True):
        differences.append(float(np.abs(model.logits - logits).max()))
        largest = max(largest, float(np.abs(model.logits[model.logits > MASKED]).max(initial=0.0)))
        num_different += _count_different(request, decoding, model, logits)
    num_rows = sum(len(one.batch[0]) for one in expected)
    parity = Parity(num_rows, max(differences), num_different, request.tolerance, largest)
    if not parity.is_good:
        what = (
            f"does not answer like the model: largest logit difference {parity.max_logit_difference:.2e} "
            f"(allowed {parity.allowed:.0e}), {parity.num_different_decisions} of {num_rows} rows decided otherwise"
        )
        raise RunError(str(request.bundle), what, "The bundle was not written. Please report this with your versions.")
    return parity


def _count_different(request: ExportRequest, decoding: Decoding, model: _Answers, logits: np.ndarray) -> int:
    """Rows where one of the two surely gives what the other does not even come near to giving."""
    sure, near = (
        [request.decide(one, model.batch, decoding, margin=margin) for one in (model.logits, logits)]
        for margin in (MARGIN, -MARGIN)
    )
    same = zip(sure[0], near[1], sure[1], near[0], strict=True)
    return sum(
        not (ours <= may_be_theirs and theirs <= may_be_ours) for ours, may_be_theirs, theirs, may_be_ours in same
    )


def _manifest(request: ExportRequest, decoding: Decoding) -> dict:
    settings = {**request.settings, "decode": decoding.to_json()}
    tokenizers = importlib.metadata.version("tokenizers")
    versions = {"ernie_pp": __version__, "paddle": paddle_version, "tokenizers": tokenizers}
    kept = {name: settings[name] for name in ("task", "text", "columns", "head", "decode", "step", "dev")}
    kept |= {name: settings[name] for name in ("review",) if name in settings}
    outputs = [{"name": "logits", "dtype": "float32", "shape": _OUTPUT_SHAPES[request.head.kind](request.head)}]
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
