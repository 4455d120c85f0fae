"""The fields of a document beside those that a format names itself."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ernie_pp.data.entities.document import Document
from ernie_pp.errors import DataError


def with_own_fields(document: Document, values: Mapping[str, object]) -> dict[str, object]:
    """The document's other fields, then `values`; DataError where both have one of the same name."""
    taken = sorted(values.keys() & document.fields.keys())
    if taken:
        what = f"has a field {taken[0]!r} of its own, which this format uses"
        raise DataError(str(document.place), what, "Rename that field.")
    return {**document.fields, **values}


def as_json(values: Mapping[str, object]) -> str:
    """One line of JSON; a date or another object of a `datasets` source as its text."""
    return json.dumps(values, ensure_ascii=False, default=str)
