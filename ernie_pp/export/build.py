"""From a model folder to a checked bundle."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import paddle
from paddle.version import full_version as paddle_version

from ernie_pp import __version__
from ernie_pp.durable import replaced_folder
from ernie_pp.export.batches import Batch
from ernie_pp.export.bundle import open_bundle, write_manifest
from ernie_pp.export.check import logits_of_bundle
from ernie_pp.export.formats import FORMATS, Target
from ernie_pp.export.parity import Decide, DevFigure, Limits, ModelAnswers, Parity, check, compare
from ernie_pp.export.programs import INPUTS, InferenceModel, write_program
from ernie_pp.export.runtime_choice import RuntimeOptions
from ernie_pp.export.sessions import open_session
from ernie_pp.machine import count_cores
from ernie_pp.models.ernie import copy_for_export, load_stack
from ernie_pp.models.head_specs import HeadSpec
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


class Decoding(Protocol):
    """A task's decode settings."""

    def to_json(self) -> dict: ...


@dataclass(frozen=True)
class ExportRequest:
    """What to export and how strictly to check it.

    `decoding_of` gives the bundle's decode settings by the model's weights; `decide` gives the task's decisions, to be
    compared; `calibration` are rows on which activations are measured for int8, `dev` measures the dev split,
    `shapes` are the least (min), most (max) and usual (opt) [rows, tokens] there.
    """

    model: Path
    bundle: Path
    target: Target
    settings: Mapping
    head: HeadSpec
    batches: Sequence[Batch]
    decoding_of: Callable[[Mapping[str, np.ndarray]], Decoding]
    decide: Decide
    tolerance: float
    calibration: Sequence[Batch] = ()
    dev: DevFigure | None = None
    shapes: Mapping[str, Sequence[int]] | None = None


def build_bundle(request: ExportRequest) -> Parity:
    """Write the bundle; RunError with the measured figure, and no bundle, where it does not answer like the model."""
    stack = load_stack(request.model, request.head)
    expected = [_eager_logits(stack, batch) for batch in request.batches]
    decoding = request.decoding_of(stack.state())
    with replaced_folder(request.bundle) as folder:
        # Saving changes the model it saves: a fresh copy of the weights is traced.
        model = InferenceModel(*copy_for_export(stack))
        made = write_program(model, folder, request.target, calibration=request.calibration)
        Tokenizer.from_folder(request.model).save(folder)
        manifest = _manifest(request, decoding, made)
        write_manifest(folder, manifest)
        limits = Limits.of(request.target, tolerance=request.tolerance, dev=request.dev)
        got = logits_of_bundle(folder, request.batches)
        parity = compare(expected, got, decoding, request.decide, limits=limits)
        # A bundle that fails on the stored rows fails: the dev split would only take time.
        if request.dev is not None and not parity.problems():
            parity = _with_dev(parity, request.dev, folder, decoding)
        check(parity, where=str(request.bundle))
        write_manifest(folder, {**manifest, "parity": parity.to_json()})
    LOG.info("%s", _say_checked(request.target, parity))
    return parity


def _eager_logits(stack: ErnieStack, batch: Batch) -> ModelAnswers:
    with paddle.no_grad():
        logits = stack(*map(paddle.to_tensor, batch)).numpy()
    # A CRF's transitions stand below the emissions; a bundle has them in its manifest.
    is_crf = stack.head_spec.kind == "crf"
    return ModelAnswers(logits[:, : batch[0].shape[1]] if is_crf else logits, batch)


def _with_dev(parity: Parity, dev: DevFigure, bundle: Path, decoding: Decoding) -> Parity:
    session = open_session(open_bundle(bundle), RuntimeOptions(threads=count_cores()))
    model, ours = dev.of_model(), dev.of_bundle(session, decoding)
    return dataclasses.replace(parity, dev_figure=dev.name, dev_model=model, dev_bundle=ours)


def _say_checked(target: Target, parity: Parity) -> str:
    runtime = FORMATS[target.format].runtime
    decisions = parity.num_different_decisions
    same = "same decisions" if not decisions else f"{decisions} decided otherwise"
    figure = "" if parity.dev_figure is None else f"; dev {parity.dev_figure} {parity.dev_bundle:.4f}"
    rows, difference = parity.num_rows, parity.max_logit_difference
    checked = f"bundle checked in {runtime}: {rows} rows, largest logit difference {difference:.1e}, {same}"
    return checked + figure + (f", the model's {parity.dev_model:.4f}" if figure else "")


def _manifest(request: ExportRequest, decoding: Decoding, made: Mapping) -> dict:
    settings = {**request.settings, "decode": decoding.to_json()}
    tokenizers = importlib.metadata.version("tokenizers")
    versions = {"ernie_pp": __version__, "paddle": paddle_version, "tokenizers": tokenizers}
    kept = {name: settings[name] for name in ("task", "text", "columns", "head", "decode", "step", "dev")}
    kept |= {name: settings[name] for name in ("review",) if name in settings}
    outputs = [{"name": "logits", "dtype": "float32", "shape": _OUTPUT_SHAPES[request.head.kind](request.head)}]
    return {
        **kept,
        "format": request.target.format,
        "precision": request.target.precision,
        "ir": FORMATS[request.target.format].ir,
        **{name: value for name, value in made.items() if name != "converters"},
        "inputs": list(INPUTS),
        "input_dtype": "int64",
        "input_shape": [None, None],
        **({} if request.shapes is None else {"shapes": request.shapes}),
        "outputs": outputs,
        "versions": {**versions, **made.get("converters", {})},
    }
