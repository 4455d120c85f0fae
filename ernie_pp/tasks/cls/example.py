"""A row of text with its labels, checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ernie_pp.choices import RowKind
from ernie_pp.data.faults import Faults
from ernie_pp.data.labels import LabelSet
from ernie_pp.data.rows import Fault, Place, Row
from ernie_pp.text.invisible import is_blank

# What files to predict hold.
ROW_KIND: RowKind = "rows"


@dataclass(frozen=True)
class Columns:
    """Which fields of a row hold what; `label` None: rows to predict, labels are not looked at."""

    text: str
    text_pair: str | None
    label: str | None
    multi_label: bool = False
    label_separator: str | None = None


@dataclass(frozen=True)
class Example:
    """One text (or pair) and the labels its file gives it, as text; None where they are not known."""

    place: Place
    text: str
    text_pair: str | None
    labels: tuple[str, ...] | None

    @property
    def joined_text(self) -> str:
        """Both texts in one, a line each."""
        return "\n".join(filter(None, (self.text, self.text_pair)))


def fields_of(row: Row, example: Example) -> dict[str, Any]:
    """The fields that a row to predict came with."""
    return dict(row.fields)


def kept_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A row's fields as they stand beside a prediction."""
    return dict(fields)


def read_examples(rows: Iterable[Row], columns: Columns, faults: Faults) -> Iterator[Example]:
    """Every sound row as an example, in order; each other one becomes a fault."""
    for row in rows:
        text = _read_text(row, columns.text, faults)
        pair = _read_text(row, columns.text_pair, faults) if columns.text_pair is not None else None
        labels = _read_labels(row, columns, faults) if columns.label is not None else None
        bad = text is None or (columns.text_pair is not None and pair is None)
        if bad or (columns.label is not None and labels is None):
            continue
        yield Example(row.place, text, pair, labels)  # type: ignore[arg-type]


def keep_known_labels(examples: Iterable[Example], labels: LabelSet, faults: Faults, column: str) -> Iterator[Example]:
    """The examples whose labels are all in the set; each other one becomes a fault that names the nearest label."""
    for example in examples:
        unknown = [label for label in example.labels or () if labels.index_of(label) is None]
        if not unknown:
            yield example
            continue
        nearest = labels.nearest(unknown[0])
        hint = f' (nearest: "{nearest}")' if nearest else ""
        expected = f"one of {', '.join(labels.values[:12])}{', ...' if len(labels) > 12 else ''}{hint}"
        advice = 'Correct the row, or add the label to "labels" in the config.'
        faults.add(Fault(example.place, column, unknown[0], expected, advice))


def _has_field(row: Row, column: str, faults: Faults) -> bool:
    if column in row.fields:
        return True
    known = ", ".join(map(str, row.fields)) or "none"
    faults.add(Fault(row.place, column, "(missing)", f"a field of that name; this row has: {known}"))
    return False


def _read_text(row: Row, column: str, faults: Faults) -> str | None:
    if not _has_field(row, column, faults):
        return None
    value = row.fields[column]
    if not isinstance(value, str):
        faults.add(Fault(row.place, column, repr(value), "text"))
        return None
    if is_blank(value):
        faults.add(Fault(row.place, column, value, "a text that is not empty", "Remove the row, or fill it in."))
        return None
    return value


def _read_labels(row: Row, columns: Columns, faults: Faults) -> tuple[str, ...] | None:
    column = columns.label or ""
    if not _has_field(row, column, faults):
        return None
    value = row.fields[column]
    parts = _split_labels(value, columns) if columns.multi_label else [value]
    labels = [_label_text(part) for part in parts] if parts is not None else [None]
    if any(label is None for label in labels):
        what = "a list of labels, each" if columns.multi_label else "a label:"
        expected = f"{what} text or a whole number"
        faults.add(Fault(row.place, column, repr(value) if value != "" else "", expected))
        return None
    return tuple(dict.fromkeys(labels))  # type: ignore[arg-type]


def _split_labels(value: object, columns: Columns) -> list | None:
    if isinstance(value, list):
        return value
    if not isinstance(value, str):
        return [value]
    if columns.label_separator is None:
        return [value] if value.strip() else []
    return [part for part in value.split(columns.label_separator) if part.strip()]


def _label_text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return (value.strip() or None) if isinstance(value, str) else None
