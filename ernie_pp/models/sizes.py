"""An ERNIE's config: read with suspicion, and the names and shapes of the tensors it implies."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ernie_pp.bounded import read_json
from ernie_pp.errors import ModelError

CONFIG = "config.json"
# Far above any ERNIE; below what a mistyped or hostile config would ask the machine to allocate.
MAX_PARAMETERS = 4_000_000_000
_MAX_CONFIG_BYTES = 1_000_000
_LIMITS = {
    "vocab_size": 10_000_000,
    "hidden_size": 65_536,
    "num_hidden_layers": 512,
    "num_attention_heads": 1_024,
    "intermediate_size": 1_048_576,
    "max_position_embeddings": 1_048_576,
}
_OPTIONAL_LIMITS = {"type_vocab_size": 1_024, "task_type_vocab_size": 1_024}
_ACTIVATIONS = ("gelu", "relu", "silu", "gelu_new")
_RATES = ("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout")
_ABOVE_0 = {"initializer_range": 10, "layer_norm_eps": 1}  # with the largest value
_OTHERS = ("hidden_act", "pad_token_id", "use_task_id", "task_id")
# PaddleNLP makes an attribute of every key, a method's name too, and some switch parts on that no ERNIE has.
_BUILT_FROM = frozenset({*_LIMITS, *_OPTIONAL_LIMITS, *_RATES, *_ABOVE_0, *_OTHERS})

Shapes = Mapping[str, tuple[int, ...]]


def read_config(folder: Path) -> dict:
    """The values of a folder's config.json, checked."""
    path = folder / CONFIG
    check_folder(folder)
    if not path.is_file():
        raise ModelError(str(path), "is not there", "model.path takes the folder of a PaddleNLP model.")
    values = read_json(path, max_bytes=_MAX_CONFIG_BYTES, error=ModelError, do="Get the file again.")
    if not isinstance(values, dict):
        raise ModelError(str(path), f"holds a {type(values).__name__}, an object was expected", "Get the file again.")
    check_config(values, where=str(path))
    return values


def check_folder(folder: Path) -> None:
    """ModelError where there is no folder of this name, or none that may be entered."""
    advice = "model.path takes the folder of a PaddleNLP model."
    try:
        if folder.is_dir():
            os.listdir(folder)
            return
    except OSError as error:
        raise ModelError(str(folder), f"cannot be read: {error.strerror}", advice) from error
    raise ModelError(str(folder), "is not a folder" if folder.exists() else "is not there", advice)


def encoder_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """What of a checked config an encoder is built from; the rest is handed to nobody."""
    return {key: value for key, value in values.items() if key in _BUILT_FROM}


def count_labels(values: Mapping[str, Any], folder: Path) -> int:
    """How many labels the classifier of a folder gives, by its config's values."""
    given = values.get("num_labels", values.get("num_classes"))
    if given is None and isinstance(values.get("id2label"), dict):
        given = len(values["id2label"])
    if type(given) is not int or not 1 <= given <= 1_000_000:
        raise ModelError(
            str(folder), f"config.json gives {_shown(given)} labels", "Give the folder of a trained classifier."
        )
    return given


def check_config(values: Mapping, *, where: str) -> None:
    """Refuse a config that is not an ERNIE's or implies absurd sizes, before anything is allocated."""
    _check_kind(values, where)
    for key, limit in {**_LIMITS, **{k: v for k, v in _OPTIONAL_LIMITS.items() if k in values}}.items():
        value = values.get(key)
        if type(value) is not int or not 1 <= value <= limit:
            raise ModelError(where, f"{key} is {_shown(value)}, a whole number from 1 to {limit} was expected", _ADVICE)
    if values["hidden_size"] % values["num_attention_heads"]:
        heads = values["num_attention_heads"]
        what = f"hidden_size {values['hidden_size']} is not a multiple of num_attention_heads {heads}"
        raise ModelError(where, what, _ADVICE)
    _check_id("pad_token_id", values, where, limit=values["vocab_size"])
    if type(values.get("use_task_id", False)) is not bool:
        raise ModelError(where, f"use_task_id is {_shown(values['use_task_id'])}, true or false was expected", _ADVICE)
    if values.get("use_task_id"):
        _check_id("task_id", values, where, limit=values.get("task_type_vocab_size", 3))
    count = num_parameters(values)
    if count > MAX_PARAMETERS:
        raise ModelError(where, f"implies {count:,} parameters, more than {MAX_PARAMETERS:,}", _ADVICE)


_ADVICE = "Check that this is the config of an ERNIE encoder."


def _check_kind(values: Mapping, where: str) -> None:
    if values.get("model_type", "ernie") != "ernie":
        raise ModelError(where, f"model_type is {_shown(values['model_type'])}, 'ernie' was expected", _ADVICE)
    if values.get("hidden_act", "gelu") not in _ACTIVATIONS:
        known = ", ".join(_ACTIVATIONS)
        raise ModelError(where, f"hidden_act is {_shown(values['hidden_act'])}, one of {known} was expected", _ADVICE)
    for key in _RATES:
        value = values.get(key)
        if value is not None and (type(value) not in (int, float) or not 0 <= value <= 1):
            raise ModelError(where, f"{key} is {_shown(value)}, a number from 0 to 1 was expected", _ADVICE)
    for key, largest in _ABOVE_0.items():
        value = values.get(key, largest)
        if type(value) not in (int, float) or not 0 < value <= largest:
            raise ModelError(
                where, f"{key} is {_shown(value)}, a number above 0 and up to {largest} was expected", _ADVICE
            )


def _check_id(key: str, values: Mapping, where: str, *, limit: int) -> None:
    """Refuse an id that is no row of its table: Paddle looks it up unchecked."""
    value = values.get(key, 0)
    if type(value) is not int or not 0 <= value < limit:
        raise ModelError(where, f"{key} is {_shown(value)}, a whole number from 0 to {limit - 1} was expected", _ADVICE)


def _shown(value: object) -> str:
    return repr(value)[:60]


def num_parameters(values: Mapping) -> int:
    """Parameters of the encoder, its pooler counted; from the sizes alone."""
    width, inner = values["hidden_size"], values["intermediate_size"]
    tables = values["vocab_size"] + values["max_position_embeddings"] + values.get("type_vocab_size", 16)
    tables += values.get("task_type_vocab_size", 3) if values.get("use_task_id") else 0
    block = 4 * (width * width + width) + 2 * width * inner + inner + width + 4 * width
    return tables * width + 2 * width + values["num_hidden_layers"] * block + width * width + width


def encoder_shapes(values: Mapping) -> Shapes:
    """Shape of every encoder tensor by canonical name, the pooler left out."""
    width = values["hidden_size"]
    shapes: dict[str, tuple[int, ...]] = {}
    for table, rows in _tables(values).items():
        shapes[f"ernie.embeddings.{table}.weight"] = (rows, width)
    shapes.update(_weight_and_bias("ernie.embeddings.layer_norm", (width,)))
    for index in range(values["num_hidden_layers"]):
        shapes.update(_block_shapes(f"ernie.encoder.layers.{index}", width, values["intermediate_size"]))
    return shapes


def pooler_shapes(values: Mapping) -> Shapes:
    """Shape of the pooler's two tensors, which a folder may lack."""
    return _weight_and_bias("ernie.pooler.dense", (values["hidden_size"], values["hidden_size"]))


def _tables(values: Mapping) -> dict[str, int]:
    tables = {
        "word_embeddings": values["vocab_size"],
        "position_embeddings": values["max_position_embeddings"],
        "token_type_embeddings": values.get("type_vocab_size", 16),
    }
    if values.get("use_task_id"):
        tables["task_type_embeddings"] = values.get("task_type_vocab_size", 3)
    return tables


def _block_shapes(prefix: str, width: int, inner: int) -> Shapes:
    shapes: dict[str, tuple[int, ...]] = {}
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        shapes.update(_weight_and_bias(f"{prefix}.self_attn.{name}", (width, width)))
    shapes.update(_weight_and_bias(f"{prefix}.linear1", (width, inner)))
    shapes.update(_weight_and_bias(f"{prefix}.linear2", (inner, width)))
    for name in ("norm1", "norm2"):
        shapes.update(_weight_and_bias(f"{prefix}.{name}", (width,)))
    return shapes


def _weight_and_bias(name: str, shape: tuple[int, ...]) -> Shapes:
    return {f"{name}.weight": shape, f"{name}.bias": shape[-1:]}
