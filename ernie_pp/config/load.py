"""From a YAML file, its one `extends` and `key=value` words to a checked RunConfig."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml
from pydantic import ValidationError

from ernie_pp.config import fields
from ernie_pp.config.schema import RunConfig
from ernie_pp.config.yaml_reader import KeyPath, parse_scalar, read_yaml
from ernie_pp.errors import ConfigError
from ernie_pp.nearest import nearest_name

# Of each group a later source that names one key replaces the others.
EXCLUSIVE: tuple[tuple[KeyPath, ...], ...] = ((("model", "name"), ("model", "path"), ("model", "sizes")),)


def load_config(path: str | Path, overrides: Sequence[str] = (), *, task: str | None = None) -> RunConfig:
    """The settings of a run: default < `extends` < file < `key=value`.

    `task` is what the command stands for (`ernie_pp.tasks.cls`): a file that says another is an error, one that
    says none gets it.
    """
    values: dict[str, object] = {} if task is None else {"task": task}
    origins: dict[KeyPath, str] = {}
    for layer, origin in _file_layers(Path(path)):
        values = _merge(values, layer)
        origins.update(origin)
    for word in overrides:
        key, layer = _parse_override(word)
        values = _merge(values, layer)
        origins[key] = f"command line {word}"
    if task is not None and values.get("task") != task:
        raise ConfigError(
            origins.get(("task",), str(path)), f"is a config for task {values.get('task')}, this command runs {task}"
        )
    return _validate(values, origins, str(path))


def dump_config(config: RunConfig) -> str:
    """The resolved settings as YAML that `load_config` reads back to the same RunConfig."""
    return yaml.safe_dump(config.model_dump(mode="json"), allow_unicode=True, sort_keys=False, width=120)


def _file_layers(path: Path) -> list[tuple[dict, dict[KeyPath, str]]]:
    document = read_yaml(path)
    layers = []
    values = dict(document.values)
    base = values.pop("extends", None)
    if base is not None:
        if not isinstance(base, str):
            raise ConfigError(f"{path}:{document.marks[('extends',)]}", f"extends is {base!r}, expected one file")
        base_document = read_yaml(path.parent / base)
        if "extends" in base_document.values:
            raise ConfigError(f"{path.parent / base}", "is extended and extends another file; one level is the limit")
        layers.append(_layer(base_document.values, base_document.marks, path.parent / base))
    layers.append(_layer(values, document.marks, path))
    return layers


def _layer(values: dict, marks: Mapping[KeyPath, str], path: Path) -> tuple[dict, dict[KeyPath, str]]:
    folder = path.resolve().parent
    return fields.resolve_paths(values, folder), {key: f"{path}:{mark}" for key, mark in marks.items()}


def _parse_override(word: str) -> tuple[KeyPath, dict]:
    name, equals, text = word.partition("=")
    if not equals or not name:
        raise ConfigError(f"command line {word}", "is not key=value", "Write for example train.epochs=2")
    key = tuple(name.split("."))
    field = fields.find_field(key)
    # A text key takes the word as it is: data.text=0 is the column named 0.
    value = text if field is not None and fields.takes_text(field) and text != "null" else None
    if value is None:
        value = parse_scalar(text, source=f"command line {word}")
    layer: object = value
    for part in reversed(key):
        layer = {part: layer}
    return key, fields.resolve_paths(layer, Path.cwd())  # type: ignore[arg-type]


def _merge(base: Mapping, layer: Mapping) -> dict:
    merged = dict(base)
    for group in EXCLUSIVE:
        named = [key for key in group if fields.value_at(layer, key) is not None]
        if named:
            merged = fields.without(merged, [key for key in group if key not in named])
    for key, value in layer.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping) and key != "labels":
            value = _merge(old, value)
        merged[key] = value
    return merged


def _validate(values: Mapping, origins: Mapping[KeyPath, str], source: str) -> RunConfig:
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        problems: dict[tuple[str, str], list[str]] = {}
        for problem in error.errors():
            where, what, message = _describe(problem, origins, source)
            problems.setdefault((where, what), []).append(message)
    raise report([(where, what + " or ".join(messages)) for (where, what), messages in problems.items()])


def report(problems: Sequence[tuple[str, str]]) -> ConfigError:
    """One ConfigError for all problems, each a (where, what) pair."""
    (where, what), *rest = problems
    more = "".join(f"\n{place}: {text}" for place, text in rest)
    return ConfigError(where, what + more, "`ernie-pp train --keys` lists every key with its meaning.")


def _describe(problem: Mapping, origins: Mapping[KeyPath, str], source: str) -> tuple[str, str, str]:
    # A union reports once for each of its members, with the member's name at the end of the key.
    key = tuple(str(part) for part in problem["loc"])
    while len(key) > 1 and fields.find_field(key) is None and problem["type"] not in ("extra_forbidden", "missing"):
        key = key[:-1]
    where = next((origins[key[:n]] for n in range(len(key), 0, -1) if key[:n] in origins), source)
    name = ".".join(key)
    if problem["type"] == "extra_forbidden":
        return where, f"unknown key {name}", _nearest(key)
    if problem["type"] == "missing":
        return where, f"{name} is missing: ", fields.meaning(key)
    meaning = fields.meaning(key)
    value = problem["input"]
    what = f"{name} is {value!r}" + (f" ({meaning})" if meaning else "") + ": "
    message = problem["msg"].removeprefix("Value error, ").replace("Input should be ", "expected ")
    return where, what, message


def _nearest(key: KeyPath) -> str:
    names = fields.all_keys()
    siblings = [name for name in names if name.rpartition(".")[0] == ".".join(key[:-1])]
    elsewhere = next((name for name in names if name.split(".")[-1] == key[-1]), None)
    close = nearest_name(".".join(key), siblings) or elsewhere or nearest_name(".".join(key), names)
    return f"; did you mean {close}?" if close else f"; known here: {', '.join(siblings) or 'none'}"
