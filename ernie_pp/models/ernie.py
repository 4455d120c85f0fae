"""An ERNIE encoder by PaddleNLP name, by local folder, or by sizes alone; the only importer of PaddleNLP."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paddle

from ernie_pp.config.schema import ModelConfig, SizesConfig
from ernie_pp.errors import ModelError
from ernie_pp.models.light_import import import_ernie
from ernie_pp.models.sizes import check_config, classifier_shapes, encoder_shapes, pooler_shapes, read_config
from ernie_pp.models.stack import ErnieStack, set_weight
from ernie_pp.models.weights import PICKLE, SAFETENSORS, Weights, read_weights

_VOCABULARY = "vocab.txt"


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
        path = Path(model_config.path) / _VOCABULARY
        if not path.is_file():
            raise ModelError(str(path), "is not there", "A model folder holds its vocabulary as vocab.txt.")
        return path
    assert model_config.name is not None
    urls = import_ernie().tokenizer.ErnieTokenizer.pretrained_resource_files_map["vocab_file"]
    return _download(model_config.name, [urls.get(model_config.name, _VOCABULARY)])


def load_encoder(model_config: ModelConfig, *, vocab_size: int, seed: int) -> LoadedEncoder:
    """The encoder a run starts from; `vocab_size` is the tokenizer's, `seed` that of fresh weights."""
    if model_config.sizes is not None:
        values = _values_of_sizes(model_config.sizes, vocab_size)
        check_config(values, where="model.sizes")
        loaded = _random_encoder(_build_config(values, model_config), seed=seed)
        return LoadedEncoder(loaded, loaded.config, "model.sizes", is_random=True)
    if model_config.path is not None:
        folder, allow_pickle = Path(model_config.path), model_config.allow_pickle
    else:
        # PaddleNLP publishes pickles under its names; the restricted reader runs none of their code.
        assert model_config.name is not None
        folder, allow_pickle = _download_weights(model_config.name), True
    values = _named_values(model_config) if model_config.name is not None else read_config(folder)
    _check_vocabulary(values, vocab_size, str(folder))
    weights = read_weights(
        folder, shapes=encoder_shapes(values), optional=pooler_shapes(values), allow_pickle=allow_pickle
    )
    encoder = _random_encoder(_build_config(values, model_config), seed=seed)
    _set_weights(encoder, weights)
    source = model_config.name or str(folder)
    return LoadedEncoder(encoder, encoder.config, source, False, weights.missing, weights.unexpected)


def build_classifier(loaded: LoadedEncoder, *, num_labels: int, seed: int) -> ErnieStack:
    """The encoder under a fresh classifier; the stack takes over the encoder's layers."""
    loaded.config.num_labels = num_labels
    paddle.seed(seed)
    return ErnieStack(loaded.encoder)


def load_classifier(folder: Path) -> ErnieStack:
    """The stack of a folder that holds a whole classifier, as a run's `best/` does."""
    values = read_config(folder)
    num_labels = _num_labels(values, folder)
    shapes = {**encoder_shapes(values), **pooler_shapes(values), **classifier_shapes(values, num_labels=num_labels)}
    weights = read_weights(folder, shapes=shapes, optional={}, allow_pickle=False)
    config = _build_config(values, ModelConfig())  # type: ignore[call-arg]
    config.num_labels = num_labels
    stack = ErnieStack(_random_encoder(config, seed=0))
    stack.load_state(weights.arrays)
    stack.eval()
    return stack


def build_paddlenlp_classifier(stack: ErnieStack) -> Any:
    """A fresh ErnieForSequenceClassification with the stack's weights, in eval mode: for the export."""
    model = import_ernie().modeling.ErnieForSequenceClassification(stack.config)
    weights = stack.state()
    for name, parameter in model.named_parameters():
        set_weight(name, parameter, weights[name])
    model.eval()
    return model


def paddlenlp_config(stack: ErnieStack, *, labels: Sequence[str]) -> dict[str, Any]:
    """What config.json says of the stack, so that PaddleNLP's own from_pretrained opens the folder."""
    values = dict(stack.config.to_dict())
    values["architectures"] = ["ErnieForSequenceClassification"]
    values["num_labels"] = len(labels)
    values["id2label"] = {str(index): label for index, label in enumerate(labels)}
    values["label2id"] = {label: index for index, label in enumerate(labels)}
    return values


def _values_of_sizes(sizes: SizesConfig, vocab_size: int) -> dict[str, Any]:
    return {
        "vocab_size": vocab_size,
        "hidden_size": sizes.hidden_size,
        "num_hidden_layers": sizes.num_layers,
        "num_attention_heads": sizes.num_heads,
        "intermediate_size": sizes.intermediate_size or 4 * sizes.hidden_size,
        "max_position_embeddings": sizes.max_positions,
        "type_vocab_size": 4,
        "pad_token_id": 0,
    }


def _build_config(values: Mapping[str, Any], model_config: ModelConfig) -> Any:
    kept = {key: value for key, value in values.items() if key not in ("architectures", "model_type", "dtype")}
    config = import_ernie().configuration.ErnieConfig(**kept)
    if model_config.dropout is not None:
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = model_config.dropout
    return config


def _random_encoder(config: Any, *, seed: int) -> Any:
    paddle.seed(seed)
    return import_ernie().modeling.ErnieModel(config)


def _set_weights(encoder: Any, weights: Weights) -> None:
    for name, parameter in encoder.named_parameters():
        array = weights.arrays.get(f"ernie.{name}")
        if array is not None:
            set_weight(name, parameter, array)


def _check_vocabulary(values: Mapping[str, Any], vocab_size: int, where: str) -> None:
    if vocab_size > values["vocab_size"]:
        what = f"the vocabulary has {vocab_size} ids, the model's table {values['vocab_size']} rows"
        raise ModelError(where, what, "Use the vocabulary that came with the model.")


def _num_labels(values: Mapping[str, Any], folder: Path) -> int:
    given = values.get("num_labels", values.get("num_classes"))
    if given is None and isinstance(values.get("id2label"), dict):
        given = len(values["id2label"])
    if type(given) is not int or not 1 <= given <= 1_000_000:
        raise ModelError(str(folder), f"config.json gives {given!r} labels", "Give the folder of a trained classifier.")
    return given


def _named_values(model_config: ModelConfig) -> dict[str, Any]:
    """The config of a PaddleNLP name: built in for its own models, downloaded for others."""
    name = model_config.name or ""
    built_in = import_ernie().configuration.ErnieConfig.pretrained_init_configuration
    if name not in built_in:
        return read_config(_download(name, ["config.json"]).parent)
    values = import_ernie().configuration.ErnieConfig(**built_in[name]).to_dict()
    check_config(values, where=f"model.name {name}")
    return values


def _download_weights(name: str) -> Path:
    urls = import_ernie().modeling.ErnieModel.pretrained_resource_files_map["model_state"]
    return _download(name, [urls[name]] if name in urls else [SAFETENSORS, PICKLE]).parent


def _download(name: str, file_names: list[str]) -> Path:
    """A file of a model name in PaddleNLP's own cache, fetched where it is not there yet."""
    # The downloader pulls in hub clients that nothing else here needs.
    from paddlenlp.utils.download import resolve_file_path

    try:
        found = resolve_file_path(name, file_names)
    except Exception as error:
        # The clients raise errors of several libraries; each of them means: no file.
        raise _not_downloaded(name, f"cannot be downloaded: {_first_line(error)}") from error
    if found is None or not Path(found).is_file():
        raise _not_downloaded(name, "is no model PaddleNLP can find")
    return Path(found)


def _not_downloaded(name: str, what: str) -> ModelError:
    known = list(import_ernie().modeling.ErnieModel.pretrained_resource_files_map["model_state"])
    nearest = difflib.get_close_matches(name, known, n=1)
    hint = f"The nearest name is {nearest[0]}.\n" if nearest and nearest[0] != name else ""
    return ModelError(
        f"model.name {name}",
        what,
        f"{hint}Offline: on a machine with network run\n"
        f'  python -c "from paddlenlp.transformers import ErnieModel, ErnieTokenizer as T; '
        f"ErnieModel.from_pretrained('{name}').save_pretrained('DIR', safe_serialization=True); "
        f"T.from_pretrained('{name}').save_pretrained('DIR')\"\n"
        "then copy DIR here and set model.path to it; model.sizes starts from random weights instead.",
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
