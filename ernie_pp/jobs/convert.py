"""A file of entities in one format becomes one in another, predictions too."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from ernie_pp.choices import Dialect, Format, OnError
from ernie_pp.data.entities.document import Document, Entity, Mention
from ernie_pp.data.entities.findings import Findings
from ernie_pp.data.entities.reading import EntityOptions, read_documents
from ernie_pp.data.entities.writers import HOLDS_FIELDS, HOLDS_SCORES, WRITERS
from ernie_pp.data.entities.writers.brat import brat_files
from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.data.rows import Row
from ernie_pp.durable import replaced_file, replaced_folder, told_as_unwritable
from ernie_pp.errors import ConfigError
from ernie_pp.jobs.figures import say_count

_TOKEN_FILES = ("bio", "bioes", "bmes")
_DIALECTS: dict[str, Dialect] = {
    "entities": "entities",
    "cluener": "cluener",
    "cail": "cail",
    "doccano": "doccano",
    "label_studio": "label_studio",
}
# What predict adds to an entity, and no format but ours has a place for in its own rows.
_PREDICTED = ("score", "source")


@dataclass(frozen=True)
class ConvertOptions:
    """The words of `ernie-pp convert`."""

    input: str
    output: str
    target_format: str
    source_format: str = "auto"
    text: str = "text"
    repair_offsets: bool = False
    on_error: OnError = "stop"


def convert_file(options: ConvertOptions) -> str:
    """Write the target whole, or not at all; what was read, and what the target has no room for, as text."""
    _check(options)
    faults, findings = Faults(on_error=options.on_error), Findings()
    settings = ReadSettings(format=_format(options.source_format), kind="entities")
    rows = list(read_rows(options.input, settings=settings, faults=faults))
    entity_options = EntityOptions(_dialect(options.source_format), options.text, "begin", options.repair_offsets)
    documents = read_documents(rows, options=entity_options, faults=faults, findings=findings)
    faults.check()
    scores = {row.place: _scores(row) for row in rows}
    documents = [_with_scores(document, scores[document.place]) for document in documents]
    _write(documents, options)
    return "\n".join(_summary(documents, options, faults, findings))


def _check(options: ConvertOptions) -> None:
    source, target = (os.path.realpath(path) for path in (options.input, options.output))
    if source == target:
        raise ConfigError("--output", f"is {options.output}, which is the input", "Name another file.")
    if options.target_format == "brat" and os.path.exists(target) and not os.path.isdir(target):
        raise ConfigError("--output", f"{options.output} is a file, and brat's are a folder", "Name a folder.")
    if options.target_format == "brat" and os.path.isdir(target) and os.listdir(target):
        raise ConfigError("--output", f"{options.output} is a folder with files in it", "Name a new one.")


def _format(name: str) -> Format:
    if name in _TOKEN_FILES:
        return "conll"
    return "brat" if name == "brat" else "auto"


def _dialect(name: str) -> Dialect:
    return _DIALECTS.get(name, "auto")


def _scores(row: Row) -> Mapping[tuple[Any, Any, Any], tuple[float, str]]:
    """(score, source) of the entities of a row that `predict` has written, by place and type."""
    entries = row.fields.get("entities")
    found = [one for one in entries if isinstance(one, Mapping)] if isinstance(entries, list) else []
    return {
        (one.get("start"), one.get("end"), one.get("label")): (float(one["score"]), str(one["source"]))
        for one in found
        if all(name in one for name in _PREDICTED)
    }


def _with_scores(document: Document, scores: Mapping[tuple[Any, Any, Any], tuple[float, str]]) -> Document:
    if not scores or document.entities is None:
        return document
    return replace(document, entities=tuple(_mention(one, scores) for one in document.entities))


def _mention(one: Entity, scores: Mapping[tuple[Any, Any, Any], tuple[float, str]]) -> Entity:
    found = scores.get((one.start, one.end, one.label))
    return one if found is None else Mention(one.start, one.end, one.label, *found)


def _write(documents: Sequence[Document], options: ConvertOptions) -> None:
    target = Path(options.output)
    if options.target_format == "brat":
        with replaced_folder(target) as folder, told_as_unwritable(options.output):
            for name, content in brat_files(documents):
                (folder / name).write_text(content, encoding="utf-8", newline="")
        return
    parts = WRITERS[options.target_format](documents)
    with replaced_file(target) as temporary, told_as_unwritable(options.output), _text_file(temporary) as file:
        file.writelines(parts)


def _text_file(path: Path) -> TextIO:
    return open(path, "w", encoding="utf-8", newline="")


def _summary(
    documents: Sequence[Document], options: ConvertOptions, faults: Faults, findings: Findings
) -> Iterator[str]:
    counts = Counter(one.label for document in documents for one in document.entities or ())
    types = ", ".join(f"{label} {count}" for label, count in counts.most_common())
    yield f"{say_count(len(documents), 'document')}, {sum(counts.values())} entities: {types or 'none'}"
    yield from findings.lines()
    if faults.count:
        yield f"{say_count(faults.count, 'bad row')} left out, the first: {faults.listed[0].place}"
    yield from _lost(documents, options.target_format)
    yield f"{options.output} ({options.target_format})"


def _lost(documents: Sequence[Document], target: str) -> Iterator[str]:
    """What the target has no room for."""
    num_scores = sum(isinstance(one, Mention) for document in documents for one in document.entities or ())
    num_fields = sum(bool(document.fields) for document in documents)
    if num_scores and target not in HOLDS_SCORES:
        yield f"left behind: scores and sources of {num_scores} entities, which {target} has no room for"
    if num_fields and target not in HOLDS_FIELDS:
        yield f"left behind: other fields of {say_count(num_fields, 'document')}, which {target} has no room for"
