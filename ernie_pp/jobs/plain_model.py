"""A task model of PaddleNLP's, trained elsewhere, as a model folder of ours, so that it is exported like best/."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ernie_pp import __version__
from ernie_pp.config.schema import TextConfig
from ernie_pp.errors import ModelError
from ernie_pp.export.batches import Batch, save_batches
from ernie_pp.jobs.splits import build_tokenizer
from ernie_pp.jobs.trained import CHECK_ROWS
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.sizes import check_folder, encoder_shapes, pooler_shapes, read_config
from ernie_pp.models.weights import read_weights
from ernie_pp.tasks import load_codec
from ernie_pp.text.tokenizer import VOCAB_FILE, Tokenizer
from ernie_pp.training.model_folder import save_model_folder

_TASKS = {
    "ErnieForSequenceClassification": "cls",
    "ErnieForTokenClassification": "ner",
    "ErnieForQuestionAnswering": "docqa",
}
_ADVICE = f"Give the folder of one of {', '.join(_TASKS)} in PaddleNLP's layout."
_TAG = re.compile(r"([BIES])-(.+)", re.DOTALL)
_NUM_CHECK_ROWS = 64
_LONGEST_ANSWER = 128  # characters; the folder does not say how long its answers were


def write_plain_model(source: Path, folder: Path, *, max_length: int, allow_pickle: bool) -> None:
    """Write `folder` from the one that PaddleNLP wrote; ModelError where it is none of a task we export.

    Decisions are PaddleNLP's: the most probable label or tag, an answer to every question. The rows to compare on are
    made up: token ids of the vocabulary, of every length.
    """
    check_folder(source)
    values = read_config(source)
    task, labels = _task_of(values, source), _labels_of(values, source)
    if max_length > values["max_position_embeddings"]:
        what = f"{max_length} tokens, and the model has {values['max_position_embeddings']} positions"
        raise ModelError("--max-length", what, "Give less.")
    tokenizer = build_tokenizer(source / VOCAB_FILE, TextConfig(max_length=max_length))
    names, decode, head = _decision_of(task, labels, source)
    weights = _weights(source, values, head, allow_pickle=allow_pickle)
    if task == "ner":
        weights = _reordered(weights, [labels.index(name) for name in names])
    settings = {
        "ernie_pp": __version__,
        "task": task,
        "text": TextConfig(max_length=max_length).settled(),
        "head": head.to_json(),
        "columns": {"text": "text", "text_pair": None, "header": True, "quoting": "auto"},
        "label_values": decode["labels"],
        "decode": load_codec(task).decode.DecodeSettings.from_json(decode).to_json(),
        "step": 0,
        "dev": {},
    }

    def add_rest(target: Path) -> None:
        tokenizer.save(target)
        save_batches(target / CHECK_ROWS, _made_up(tokenizer, max_length))

    config = {**values, "id2label": {str(index): name for index, name in enumerate(names)}, "num_labels": len(names)}
    save_model_folder(folder, weights=weights, config=config, settings=settings, save_extras=add_rest)


def _task_of(values: Mapping[str, Any], source: Path) -> str:
    named = values.get("architectures")
    name = named[0] if isinstance(named, list) and named else None
    if name not in _TASKS:
        raise ModelError(str(source), f"config.json names the architecture {name!r:.60}", _ADVICE)
    return _TASKS[name]


def _labels_of(values: Mapping[str, Any], source: Path) -> list[str]:
    given = values.get("id2label")
    labels = [given.get(str(index)) for index in range(len(given))] if isinstance(given, dict) else [None]
    if not all(isinstance(label, str) for label in labels) or len(set(labels)) < len(labels):
        what = "config.json has no id2label that gives each output from 0 on a name of its own"
        raise ModelError(str(source), what, "Write the names of the labels there.")
    return [str(label) for label in labels]


def _decision_of(task: str, labels: Sequence[str], source: Path) -> tuple[list[str], dict[str, Any], HeadSpec]:
    """(names of the outputs in our order, decode settings, head)."""
    if task == "cls":
        decode = {"labels": list(labels), "multi_label": False, "thresholds": [0.5] * len(labels)}
        return list(labels), decode, HeadSpec("classification", len(labels))
    if task == "docqa":
        decode = {"labels": ["span", "none"], "max_answer": _LONGEST_ANSWER, "num_best": 5, "threshold": 0.0}
        return ["start", "end"], decode, HeadSpec("answer_span", 2)
    decode = _tag_settings(labels, source)
    return decode["tags"], decode, HeadSpec("softmax", len(decode["tags"]))


def _tag_settings(tags: Sequence[str], source: Path) -> dict[str, Any]:
    found = [_TAG.fullmatch(tag) for tag in tags if tag != "O"]
    kinds = list(dict.fromkeys(one[2] for one in found if one is not None))
    scheme = "bioes" if any(one is not None and one[1] in "ES" for one in found) else "bio"
    settings = load_codec("ner").decode.DecodeSettings(tuple(kinds), "softmax", scheme)
    values = settings.to_json()
    if sorted(values["tags"]) != sorted(tags):
        what = f"id2label holds {', '.join(tags)[:200]}, expected O and the {scheme.upper()} tags of each type"
        raise ModelError(str(source), what, "Export a model that was trained on BIO or BIOES tags.")
    return values


def _weights(source: Path, values: Mapping[str, Any], head: HeadSpec, *, allow_pickle: bool) -> dict[str, np.ndarray]:
    """All tensors by canonical name."""
    shapes = {**encoder_shapes(values), **head.shapes(values["hidden_size"])}
    shapes.update(pooler_shapes(values) if head.has_pooler else {})
    return dict(read_weights(source, shapes=shapes, optional={}, allow_pickle=allow_pickle).arrays)


def _reordered(weights: Mapping[str, np.ndarray], order: Sequence[int]) -> dict[str, np.ndarray]:
    """The same with the outputs of the head in another order."""
    names = ("classifier.weight", "classifier.bias")
    return {**weights, **{name: np.ascontiguousarray(weights[name][..., list(order)]) for name in names}}


def _made_up(tokenizer: Tokenizer, max_length: int) -> list[Batch]:
    random, first = np.random.default_rng(0), len(tokenizer.tokens()) // 2
    lengths = np.unique(np.linspace(3, max_length, _NUM_CHECK_ROWS).round().astype(np.int64))
    batches = []
    for length in lengths.tolist():
        ids = random.integers(first, tokenizer.vocab_size, (1, length))
        ids[0, 0], ids[0, -1] = tokenizer.cls_id, tokenizer.sep_id
        batches.append((ids, np.zeros_like(ids)))
    return batches
