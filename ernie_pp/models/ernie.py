"""An ERNIE encoder by PaddleNLP name, by local folder, or by sizes alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import paddle

from ernie_pp.config.schema import ModelConfig, SizesConfig
from ernie_pp.errors import ModelError
from ernie_pp.models.download import download_file, download_weights
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.light_import import import_ernie
from ernie_pp.models.sizes import (
    Shapes,
    check_config,
    check_folder,
    encoder_shapes,
    encoder_values,
    pooler_shapes,
    read_config,
)
from ernie_pp.models.stack import ErnieStack, set_weight
from ernie_pp.models.weights import canonical_name, read_weights

_VOCABULARY = "vocab.txt"
# By head, and by its number of outputs: PaddleNLP's QA model has no place for yes and no.
_ARCHITECTURES = {
    "classification": "ErnieForSequenceClassification",
    "softmax": "ErnieForTokenClassification",
    "crf": "ErnieForTokenClassification",
    "global_pointer": "ErnieModel",
    ("answer_span", 2): "ErnieForQuestionAnswering",
    ("answer_span", 4): "ErnieForTokenClassification",
}


@dataclass(frozen=True)
class LoadedEncoder:
    """An ErnieModel and where it comes from.

    `missing` names tensors that were not in the folder and start fresh (the pooler), `unexpected` those that the
    encoder has no place for (a head of another task).
    """

    encoder: Any
    config: Any
    source: str
    is_random: bool
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()


def find_vocabulary(model_config: ModelConfig) -> Path:
    """The vocabulary file that belongs to the model, downloaded for a model name."""
    if model_config.sizes is not None:
        return Path(model_config.sizes.vocab)
    if model_config.path is not None:
        check_folder(Path(model_config.path))
        path = Path(model_config.path) / _VOCABULARY
        if not path.is_file():
            raise ModelError(str(path), "is not there", "A model folder holds its vocabulary as vocab.txt.")
        return path
    assert model_config.name is not None
    urls = import_ernie().tokenizer.ErnieTokenizer.pretrained_resource_files_map["vocab_file"]
    return download_file(model_config.name, [urls.get(model_config.name, _VOCABULARY)])


def model_values(model_config: ModelConfig, *, vocab_size: int, pad_id: int) -> dict[str, Any]:
    """What config.json says of the model, or would say; checked, and nothing is allocated.

    `vocab_size` and `pad_id` are the tokenizer's.
    """
    if model_config.sizes is not None:
        values, where = _values_of_sizes(model_config.sizes, vocab_size, pad_id), "model.sizes"
        check_config(values, where=where)
    elif model_config.path is not None:
        values, where = read_config(Path(model_config.path)), model_config.path
    else:
        assert model_config.name is not None
        values, where = _named_values(model_config.name), f"model.name {model_config.name}"
    _check_vocabulary(values, vocab_size, pad_id, where)
    return values


def load_encoder(model_config: ModelConfig, *, vocab_size: int, pad_id: int, seed: int) -> LoadedEncoder:
    """The encoder a run starts from; sizes and id are the tokenizer's, `seed` is that of fresh weights."""
    values = model_values(model_config, vocab_size=vocab_size, pad_id=pad_id)
    config = _build_config(values, model_config)
    if model_config.sizes is not None:
        return LoadedEncoder(_random_encoder(config, seed=seed), config, "model.sizes", is_random=True)
    # PaddleNLP publishes pickles under its names; the restricted reader runs none of their code.
    allow_pickle = model_config.allow_pickle or model_config.name is not None
    folder = Path(model_config.path) if model_config.path is not None else download_weights(model_config.name or "")
    optional = pooler_shapes(values)
    weights = read_weights(folder, shapes=encoder_shapes(values), optional=optional, allow_pickle=allow_pickle)
    fresh = _fresh_arrays({name: optional[name] for name in weights.missing}, seed=seed, config=values)
    encoder = _build_with_weights(import_ernie().modeling.ErnieModel, config, {**weights.arrays, **fresh})
    source = model_config.name or str(folder)
    return LoadedEncoder(encoder, config, source, False, weights.missing, weights.unexpected)


def build_stack(loaded: LoadedEncoder, head: HeadSpec, *, seed: int) -> ErnieStack:
    """The encoder under a fresh head; the stack takes over the encoder's layers."""
    paddle.seed(seed)
    return ErnieStack(loaded.encoder, head)


def build_classifier(loaded: LoadedEncoder, *, num_labels: int, seed: int) -> ErnieStack:
    """The encoder under a fresh classifier."""
    return build_stack(loaded, HeadSpec("classification", num_labels), seed=seed)


def load_stack(folder: Path, head: HeadSpec) -> ErnieStack:
    """The stack of a folder that holds a whole model with this head, as a run's `best/` does."""
    values = read_config(folder)
    shapes = {**encoder_shapes(values), **head.shapes(values["hidden_size"])}
    shapes.update(pooler_shapes(values) if head.has_pooler else {})
    weights = read_weights(folder, shapes=shapes, optional={}, allow_pickle=False)
    config = _build_config(values, ModelConfig())  # type: ignore[call-arg]
    stack = ErnieStack(_build_encoder(config, weights.arrays, head), head)
    stack.load_state(weights.arrays)
    stack.eval()
    return stack


def copy_for_export(stack: ErnieStack) -> tuple[Any, paddle.nn.Layer]:
    """A fresh ErnieModel, and a fresh head, with the stack's weights, in eval mode."""
    weights, head = stack.state(), stack.head_spec
    encoder = _build_encoder(stack.config, weights, head)
    fresh = ErnieStack(_build_encoder(stack.config, weights, head), head)
    fresh.load_state(weights)
    encoder.eval()
    fresh.eval()
    return encoder, fresh.layers[-1]


def model_settings(stack: ErnieStack) -> dict[str, Any]:
    """What beside the weights says which function the stack computes, as in config.json."""
    values = encoder_values(stack.config.to_dict())
    return {name: value for name, value in sorted(values.items()) if name != "initializer_range"}


def paddlenlp_config(stack: ErnieStack, *, labels: Sequence[str]) -> dict[str, Any]:
    """What config.json says of the stack, so that PaddleNLP's own from_pretrained opens the folder.

    `labels` are the names of the head's outputs. PaddleNLP has no GlobalPointer, and no CRF over ERNIE: it opens the
    encoder of the one, and the emissions of the other.
    """
    values = dict(stack.config.to_dict())
    head = stack.head_spec
    key = (head.kind, head.num_outputs) if head.kind == "answer_span" else head.kind
    values["architectures"] = [_ARCHITECTURES[key]]
    values["num_labels"] = len(labels)
    values["id2label"] = {str(index): label for index, label in enumerate(labels)}
    values["label2id"] = {label: index for index, label in enumerate(labels)}
    return values


def _values_of_sizes(sizes: SizesConfig, vocab_size: int, pad_id: int) -> dict[str, Any]:
    return {
        "vocab_size": vocab_size,
        "hidden_size": sizes.hidden_size,
        "num_hidden_layers": sizes.num_layers,
        "num_attention_heads": sizes.num_heads,
        "intermediate_size": sizes.intermediate_size or 4 * sizes.hidden_size,
        "max_position_embeddings": sizes.max_positions,
        "type_vocab_size": 4,
        "pad_token_id": pad_id,
    }


def _build_config(values: Mapping[str, Any], model_config: ModelConfig) -> Any:
    config = import_ernie().configuration.ErnieConfig(**encoder_values(values))
    if model_config.dropout is not None:
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = model_config.dropout
    return config


def _random_encoder(config: Any, *, seed: int) -> Any:
    paddle.seed(seed)
    return import_ernie().modeling.ErnieModel(config)


def _build_encoder(config: Any, arrays: Mapping[str, np.ndarray], head: HeadSpec) -> Any:
    """An ErnieModel; a pooler that the head does not read is no part of its weights, and stays as it comes."""
    if not head.has_pooler:
        unread = pooler_shapes({"hidden_size": config.hidden_size})
        arrays = {**arrays, **{name: np.zeros(shape, np.float32) for name, shape in unread.items()}}
    return _build_with_weights(import_ernie().modeling.ErnieModel, config, arrays)


def _build_with_weights(model_class: Any, config: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """A model of PaddleNLP whose parameters are set at once: drawing 100 million random numbers takes seconds."""
    with import_ernie().model_utils.no_init_weights(_enable=True), paddle.LazyGuard():
        model = model_class(config)
    for layer in model.sublayers():
        if isinstance(layer, paddle.nn.LayerNorm):
            model._init_weights(layer)  # sets its epsilon
    for name, parameter in model.named_parameters():
        set_weight(name, parameter, arrays[canonical_name(name)])
    return model


def _fresh_arrays(shapes: Shapes, *, seed: int, config: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """What tensors that a folder lacks start from: weights drawn as PaddleNLP does, biases of zero."""
    random, deviation = np.random.default_rng(seed), config.get("initializer_range", 0.02)
    deviations = {name: 0.0 if name.endswith(".bias") else deviation for name in shapes}
    return {name: random.normal(0.0, deviations[name], shape).astype(np.float32) for name, shape in shapes.items()}


def _check_vocabulary(values: Mapping[str, Any], vocab_size: int, pad_id: int, where: str) -> None:
    if vocab_size > values["vocab_size"]:
        what = f"the vocabulary has {vocab_size} ids, the model's table {values['vocab_size']} rows"
        raise ModelError(where, what, "Use the vocabulary that came with the model.")
    masked = values.get("pad_token_id", 0)
    if masked != pad_id:
        what = f"pad_token_id is {masked!r}, and [PAD] has id {pad_id} in the vocabulary: padding would be read as text"
        raise ModelError(where, what, "Use the vocabulary that came with the model.")


def _named_values(name: str) -> dict[str, Any]:
    """The config of a PaddleNLP name: built in for its own models, downloaded for others."""
    built_in = import_ernie().configuration.ErnieConfig.pretrained_init_configuration
    if name not in built_in:
        return read_config(download_file(name, ["config.json"]).parent)
    values = import_ernie().configuration.ErnieConfig(**built_in[name]).to_dict()
    check_config(values, where=f"model.name {name}")
    return values
