"""The fields a review fills: from a YAML file of the user's, or from the bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from ernie_pp.config.ner import FieldConfig, ReviewConfig
from ernie_pp.config.yaml_reader import read_yaml
from ernie_pp.errors import ConfigError


def read_fields(path: str | Path) -> tuple[FieldConfig, ...]:
    """The fields of a YAML file: its `fields`, or the `review.fields` of a recipe's config."""
    values = read_yaml(Path(path)).values
    section = values.get("review", {"fields": values["fields"]} if "fields" in values else None)
    if not isinstance(section, Mapping):
        raise ConfigError(str(path), "has neither `fields` nor `review.fields`", "List the fields: name, labels, kind.")
    return check_fields(section.get("fields"), source=str(path))


def check_fields(values: object, *, source: str) -> tuple[FieldConfig, ...]:
    """The fields of plain values; ConfigError for what is none, for no field at all and for two of one name."""
    try:
        fields = ReviewConfig.model_validate({"fields": values}).fields
    except ValidationError as error:
        told = "\n".join(_describe(problem["loc"], problem["msg"], problem["input"]) for problem in error.errors())
        raise ConfigError(source, told, "`ernie-pp train --keys` lists the keys of review.fields.") from error
    if not fields:
        raise ConfigError(source, "has no fields to fill", "List them under review.fields: name, labels, kind.")
    _check_names([field.name for field in fields], source)
    return fields


def check_labels(fields: Sequence[FieldConfig], *, known: object, source: str) -> None:
    """ConfigError for a field about a type that the bundle does not find: it would be missing in every document."""
    types = known if isinstance(known, list) else []
    for field in fields:
        for label in field.labels:
            if label not in types:
                what = f'the field "{field.name}" is about {label!r}, and the bundle finds {", ".join(map(str, types))}'
                raise ConfigError(source, what, "Name types of the bundle.")


def _check_names(names: Sequence[str], source: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(source, f'has two fields "{twice[0]}"', "Give each field a name of its own.")


def _describe(key: Sequence[object], message: str, value: object) -> str:
    shown = repr(value)
    name = ".".join(map(str, ("review", *key)))
    return f"{name} is {shown if len(shown) <= 60 else shown[:57] + '...'}: {message}"
