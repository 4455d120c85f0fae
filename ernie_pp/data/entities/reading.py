"""From rows of any format to documents: what is marked is checked against the text, over the whole file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ernie_pp.choices import Dialect
from ernie_pp.data.entities.checks import FileOfEntities, MarkedRow
from ernie_pp.data.entities.dialects import read_fields
from ernie_pp.data.entities.document import Document
from ernie_pp.data.entities.marked import MarkedText, Unreadable
from ernie_pp.data.faults import Faults
from ernie_pp.data.findings import Findings
from ernie_pp.data.rows import Fault, Place, Row

# Fields that the readers of token files and of brat add for the checks, and no document keeps.
_TAGS, _BRAT = "tags", "brat"
# Of each list of odd tags: line and tag, and for illegal ones the tag before.
_SIZES = {"illegal": 3, "cut": 2}


@dataclass(frozen=True)
class EntityOptions:
    """How documents are read: as the settings of the same names say."""

    dialect: Dialect = "auto"
    text: str = "text"
    illegal_tags: Literal["begin", "error"] = "begin"
    repair_offsets: bool = False


def read_documents(
    rows: Iterable[Row], *, options: EntityOptions, faults: Faults, findings: Findings
) -> list[Document]:
    """The sound documents of one file, in order; what is wrong becomes a fault, what is odd a finding.

    The way in which a file counts places is looked for over all of its entities, so all rows are held.
    """
    marked = list(_marked_rows(rows, options, faults, findings))
    return FileOfEntities(marked, options.repair_offsets).documents(faults, findings)


def _marked_rows(
    rows: Iterable[Row], options: EntityOptions, faults: Faults, findings: Findings
) -> Iterator[MarkedRow]:
    for row in rows:
        try:
            found = read_fields(row.fields, options.dialect, text=options.text)
        except Unreadable as error:
            field, came, expected = error.args
            advice = "Say by data.dialect what the file is, or correct the row."
            faults.add(Fault(row.place, field, _shown(came), expected, advice))
            continue
        if not isinstance(found.text, str):
            faults.add(Fault(row.place, options.text, _shown(found.text), "the text", "Name its field: data.text."))
        elif _tags_are_taken(row, options, faults, findings):
            _note(row.place, found, findings)
            rest = {name: value for name, value in found.rest.items() if not _is_readers(name, value)}
            yield MarkedRow(row.place, found.text, found.entities, rest)


def _tags_are_taken(row: Row, options: EntityOptions, faults: Faults, findings: Findings) -> bool:
    """Whether the tags that a row was read from are legal, or may be read as they are."""
    tags = row.fields.get(_TAGS)
    brat = row.fields.get(_BRAT)
    if isinstance(brat, Mapping) and _is_readers(_BRAT, brat) and brat["others"]:
        findings.add("other_marks", row.place, "", count=brat["others"])
    if not isinstance(tags, Mapping) or not _is_readers(_TAGS, tags):
        return True
    for line, tag in tags.get("cut", ()):
        findings.add("cut_entity", Place(row.place.path, line), tag)
    illegal = tags.get("illegal", ())
    if illegal and options.illegal_tags == "error":
        line, tag, before = illegal[0]
        advice = "Correct the tags, or set ner.illegal_tags: begin."
        faults.add(Fault(Place(row.place.path, line), "tag", tag, f"a tag that may follow {before}", advice))
        return False
    for line, tag, before in illegal:
        findings.add("illegal_tag", Place(row.place.path, line), f"{tag} after {before}")
    return True


def _is_readers(name: str, value: Any) -> bool:
    """Whether a field is what the readers add, and none of the user's that has the same name."""
    if not isinstance(value, Mapping):
        return False
    if name == _BRAT:
        return set(value) == {"others"} and type(value["others"]) is int
    lists = {key: one for key, one in value.items() if isinstance(one, list)}
    if name != _TAGS or set(value) != set(_SIZES) or set(lists) != set(value):
        return False
    return all(
        isinstance(entry, list) and len(entry) == _SIZES[key] and type(entry[0]) is int
        for key, one in lists.items()
        for entry in one
    )


def _note(place: Place, found: MarkedText, findings: Findings) -> None:
    for kind, shown in found.notes:
        findings.add(kind, place, shown)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)[:100]
