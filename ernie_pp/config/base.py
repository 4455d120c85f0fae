"""What all sections of the settings are made of: their base, and the types of their values."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue


def tuple_from_list(value: object) -> object:
    """YAML gives lists; settings do not change once they are loaded."""
    return tuple(value) if isinstance(value, list) else value


def _text_of_label(value: object) -> object:
    # A label may be a number or a truth value in the file and in the config; both become the same text.
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else value


Label = Annotated[str, BeforeValidator(_text_of_label)]
Labels = Annotated[tuple[Label, ...], BeforeValidator(tuple_from_list)]
Numbers = Annotated[tuple[float, ...], BeforeValidator(tuple_from_list)]
# One file, or several that are read one after the other.
Sources = str | Annotated[tuple[str, ...], Field(min_length=1), BeforeValidator(tuple_from_list)]
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]
# Marks a file or folder that is read; `load.py` makes it absolute.
READ_PATH: dict[str, JsonValue] = {"read_path": True}


class Section(BaseModel):
    """Base of all sections: no unknown key, no silent conversion, finite numbers only, no change after loading."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
