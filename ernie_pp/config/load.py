"""From a YAML file, its one `extends` and `key=value` words to a checked RunConfig."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from ernie_pp.config import fields
from ernie_pp.config.merge import AUTO, PARALLEL, auto_first, check_words, merge, spell_out
from ernie_pp.config.schema import RunConfig
from ernie_pp.config.yaml_reader import KeyPath, parse_scalar, read_yaml, write_yaml
from ernie_pp.errors import ConfigError
from ernie_pp.nearest import nearest_name


def load_config(path: str | Path, overrides: Sequence[str] = (), *, task: str | None = None) -> RunConfig:
    """The settings of a run: default < `extends` < file < `key=value`.

    `task` is what the command stands for (`ernie_pp.tasks.cls`): a file that says another is an error, one that
    says none gets it.
    """
    values: dict[str, object] = {} if task is None else {"task": task}
    origins: dict[KeyPath, str] = {}
    for layer, origin in _file_layers(Path(path)):
        values = merge(values, layer)
        origins.update(origin)
    of_files = values
    parsed = {word: _parse_override(word) for word in overrides}
    check_words(overrides, parsed)
    for word, key, layer in auto_first(parsed):
        values = merge(values, layer)
        origins[key] = f"command line {word}"
    _check_replaced_model(of_files, values, origins)
    if task is not None and values.get("task") != task:
        raise ConfigError(
            origins.get(("task",), str(path)), f"is a config for task {values.get('task')}, this command runs {task}"
        )
    return _validate(values, origins, str(path))


def dump_config(config: RunConfig) -> str:
    """The resolved settings as YAML that `load_config` reads back to the same RunConfig."""
    return write_yaml(config.model_dump(mode="json"))


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
    folder = Path(os.path.realpath(path)).parent
    _check_sections(values, marks, path)
    return fields.resolve_paths(spell_out(values), folder), {key: f"{path}:{mark}" for key, mark in marks.items()}


def _check_sections(values: Mapping, marks: Mapping[KeyPath, str], path: Path, above: KeyPath = ()) -> None:
    """ConfigError for a section that is none: a later source that gives the section would hide it."""
    for name, value in values.items():
        key = (*above, str(name))
        if value is None or not fields.is_section(key) or (key == (PARALLEL,) and value == AUTO):
            continue
        if not isinstance(value, Mapping) or (not value and len(key) > 1):
            word = " or the word auto" if key == (PARALLEL,) else ""
            what = f"{'.'.join(key)} is {value!r}, expected keys and values below it{word}"
            raise ConfigError(f"{path}:{marks[key]}", what)
        _check_sections(value, marks, path, key)


def _parse_override(word: str) -> tuple[KeyPath, dict]:
    name, equals, text = word.partition("=")
    if not equals or not name:
        raise ConfigError(f"command line {word}", "is not key=value", "Write for example train.epochs=2")
    key = tuple(name.split("."))
    field = fields.find_field(key)
    # A text key takes the word as it is: data.text=0 is the column named 0.
    value = text if field is not None and fields.takes_text(field, text) and text != "null" else None
    if value is None:
        value = parse_scalar(text, source=f"command line {word}")
    layer: object = value
    for part in reversed(key):
        layer = {part: layer}
    return key, fields.resolve_paths(spell_out(layer), Path.cwd())  # type: ignore[arg-type]


def _check_replaced_model(before: Mapping, after: Mapping, origins: Mapping[KeyPath, str]) -> None:
    """ConfigError where a word about sizes has put random weights without a vocabulary in the place of a model."""
    sizes = fields.value_at(after, ("model", "sizes"))
    if not isinstance(sizes, Mapping) or sizes.get("vocab") is not None:
        return
    for name in ("name", "path"):
        lost = fields.value_at(before, ("model", name))
        if lost is not None:
            key = next(key for key in reversed([*origins]) if key[:2] == ("model", "sizes"))
            what = f"replaces model.{name} {lost} by random weights, and model.sizes.vocab is missing"
            raise ConfigError(origins[key], what, "Leave it out to keep that model, or give model.sizes.vocab too.")


def _validate(values: Mapping, origins: Mapping[KeyPath, str], source: str) -> RunConfig:
    odd = [(_origin(key, origins, source), f"{'.'.join(key)} {what}") for key, what in fields.odd_texts(values)]
    if odd:
        raise report(odd)
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
    where = _origin(key, origins, source)
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


def _origin(key: KeyPath, origins: Mapping[KeyPath, str], source: str) -> str:
    return next((origins[key[:n]] for n in range(len(key), 0, -1) if key[:n] in origins), source)


def _nearest(key: KeyPath) -> str:
    parts = (*key[:-1], *key[-1].split("."))
    if len(parts) > len(key) and fields.find_field(parts) is not None:
        return f"; write {': {'.join(parts)}: ...{'}' * (len(parts) - 1)}"
    names = fields.all_keys()
    siblings = [name for name in names if name.rpartition(".")[0] == ".".join(key[:-1])]
    elsewhere = next((name for name in names if name.split(".")[-1] == key[-1]), None)
    close = nearest_name(".".join(key), siblings) or elsewhere or nearest_name(".".join(key), names)
    return f"; did you mean {close}?" if close else f"; known here: {', '.join(siblings) or 'none'}"
