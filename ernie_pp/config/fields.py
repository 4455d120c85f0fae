"""Questions about the keys of the schema: which there are, what they mean, which name a file that is read."""

from __future__ import annotations

import os
import re
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ernie_pp.choices import DATASET_PREFIX
from ernie_pp.config.schema import RunConfig, Section

# NUL, and the halves of a surrogate pair: what Python makes of bytes in a name that are not UTF-8.
_ODD = re.compile("[\0\ud800-\udfff]")


def find_field(key: Sequence[str]) -> FieldInfo | None:
    """The schema's field of a key such as ("train", "epochs"); None where there is none."""
    model: type[BaseModel] | None = RunConfig
    field = None
    for part in key:
        field = model.model_fields.get(part) if model is not None else None
        if field is None:
            return None
        model = _section_of(field)
    return field


def all_keys() -> list[str]:
    """Every key with its section, `train.epochs`, in the schema's order."""
    return [name for name, _ in _walk(RunConfig, "")]


def settings_by_key(values: Mapping) -> dict[str, object]:
    """The value of every key that is no section, by names such as `train.epochs`, out of a config as plain values."""
    keys = ((name, tuple(name.split("."))) for name in all_keys())
    return {name: value_at(values, key) for name, key in keys if not is_section(key)}


def describe_keys() -> list[tuple[str, str, str]]:
    """(key, default, meaning) of every key, for `--keys`."""
    return [(name, _default_of(field), field.description or "") for name, field in _walk(RunConfig, "")]


def meaning(key: Sequence[str]) -> str:
    """The schema's one line on a key; of the nearest known part for a longer one."""
    for end in range(len(key), 0, -1):
        field = find_field(key[:end])
        if field is not None:
            return field.description or ""
    return ""


def takes_text(field: FieldInfo, word: str) -> bool:
    """Whether a key takes a word from the command line as it is, without quotes: it holds text, or text and null.

    A key that may hold a list too takes what begins with [ as one.
    """
    members = set(map(_without_limits, typing.get_args(field.annotation))) or {field.annotation}
    may_be_list = tuple[str, ...] in members
    return str in members and members <= {str, type(None), tuple[str, ...]} and not (may_be_list and word[:1] == "[")


def resolve_paths(values: Mapping, folder: Path, key: tuple[str, ...] = ()) -> dict:
    """The same values with every path that is read made absolute, starting from `folder`."""
    resolved = {}
    for name, value in values.items():
        here = (*key, str(name))
        field = find_field(here)
        if isinstance(value, Mapping) and field is not None:
            value = resolve_paths(value, folder, here)
        elif isinstance(value, str) and field is not None and _names_path(field, value):
            value = _absolute(folder, value)
        elif isinstance(value, list) and field is not None:
            value = [_resolve_entry(entry, folder, field) for entry in value]
        resolved[name] = value
    return resolved


def _resolve_entry(entry: object, folder: Path, field: FieldInfo) -> object:
    """One entry of a list of files or of sections, its paths absolute."""
    if isinstance(entry, str):
        return _absolute(folder, entry) if _names_path(field, entry) else entry
    section = _entries_of(field)
    if section is None or not isinstance(entry, Mapping):
        return entry
    kinds = section.model_fields
    return {
        name: _absolute(folder, value)
        if isinstance(value, str) and name in kinds and _names_path(kinds[name], value)
        else value
        for name, value in entry.items()
    }


def _names_path(field: FieldInfo, value: str) -> bool:
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    words = extra.get("words")
    is_word = isinstance(words, list) and value in words
    # An empty name would become the working directory.
    return bool(extra.get("read_path")) and bool(value) and not is_word and not value.startswith(DATASET_PREFIX)


def empty_paths(values: Mapping) -> list[str]:
    """Keys that name nothing where they should name what is read; `values` are a config's, plain."""
    found = []
    for name, value in settings_by_key(values).items():
        field = find_field(name.split("."))
        extra = field.json_schema_extra if field is not None else None
        # A key that takes words as well says itself which.
        is_path = isinstance(extra, dict) and bool(extra.get("read_path")) and "words" not in extra
        if is_path and (value == "" or (isinstance(value, (list, tuple)) and "" in value)):
            found.append(name)
    return found


def is_section(key: Sequence[str]) -> bool:
    """Whether a key holds keys of its own."""
    field = find_field(key)
    return field is not None and _section_of(field) is not None


def is_set(section: Section, name: str) -> bool:
    """Whether a key was given another value than its default (a resolved config names every key)."""
    return getattr(section, name) != type(section).model_fields[name].default


def odd_texts(values: object, key: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """(key, what is wrong) of every text that no file name, label or UTF-8 file can hold."""
    if isinstance(values, Mapping):
        for name, value in values.items():
            yield from odd_texts(name, (*key, ascii(name)[1:-1] if isinstance(name, str) else str(name)))
            yield from odd_texts(value, (*key, str(name)))
    elif isinstance(values, (list, tuple)):
        for index, value in enumerate(values):
            yield from odd_texts(value, (*key, str(index)))
    elif isinstance(values, str):
        found = _ODD.search(values)
        if found:
            kind = "NUL" if found.group() == "\0" else "not UTF-8"
            yield key, f"is {values!r}: U+{ord(found.group()):04X} is {kind}"


def value_at(values: object, key: Sequence[str]) -> object:
    """The value of a key in nested mappings; None where it is not given."""
    for part in key:
        values = values.get(part) if isinstance(values, Mapping) else None
    return values


def without(values: Mapping, keys: Sequence[Sequence[str]]) -> dict:
    """A copy of nested mappings in which the given keys are not set."""
    result = {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()}
    for section, name in keys:
        if isinstance(result.get(section), dict):
            result[section].pop(name, None)
    return result


def _absolute(folder: Path, value: str) -> str:
    # The name stays as it was given: a link to a blob has the ending that the blob lacks.
    head, name = os.path.split(os.path.join(folder, value))
    if "\0" in value or name not in ("", ".", ".."):
        return os.path.join(head if "\0" in head else os.path.realpath(head), name)
    return os.path.realpath(os.path.join(head, name))


def _without_limits(kind: object) -> object:
    return typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind


def _walk(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        section = _section_of(field)
        yield prefix + name, field
        if section is not None:
            yield from _walk(section, f"{prefix}{name}.")


def _entries_of(field: FieldInfo) -> type[BaseModel] | None:
    """The section that each entry of a list is; None where it is none."""
    return next(
        (kind for kind in typing.get_args(field.annotation) if isinstance(kind, type) and issubclass(kind, BaseModel)),
        None,
    )


def _section_of(field: FieldInfo) -> type[BaseModel] | None:
    kinds = typing.get_args(field.annotation) if isinstance(field.annotation, types.UnionType) else (field.annotation,)
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _default_of(field: FieldInfo) -> str:
    if _section_of(field) is not None:
        return ""
    return "required" if field.is_required() else str(field.default)
