"""A file of entities in one format becomes one in another, predictions too."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from ernie_pp.choices import Dialect, Format, OnError
from ernie_pp.data.entities.document import Document, Mention
from ernie_pp.data.entities.findings import entity_findings
from ernie_pp.data.entities.reading import EntityOptions, read_documents
from ernie_pp.data.entities.writers import HOLDS_FIELDS, HOLDS_SCORES, HOLDS_SOURCES, HOLDS_UNMARKED, WRITERS
from ernie_pp.data.entities.writers.brat import brat_files
from ernie_pp.data.faults import Faults
from ernie_pp.data.findings import Findings
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.data.rows import Fault, Row
from ernie_pp.durable import check_writable, replaced_file, replaced_folder, told_as_unwritable
from ernie_pp.errors import ConfigError, DataError, ErniePPError
from ernie_pp.jobs.figures import say_count

_TOKEN_FILES = ("bio", "bioes", "bmes")
_DIALECTS: dict[str, Dialect] = {
    "auto": "auto",
    "entities": "entities",
    "cluener": "cluener",
    "cail": "cail",
    "doccano": "doccano",
    "label_studio": "label_studio",
}
_PAIR = (".txt", ".ann")
# What predict adds to an entity.
_PREDICTED = ("start", "end", "label", "score", "source")
# What readers advise, and the words of `convert` that do it.
_WORDS_OF_CONFIG = {
    "set data.on_error: skip to leave them out and list them in the run folder": "give --on-error skip",
    "set ner.repair_offsets: true": "give --repair-offsets",
    "ner.repair_offsets": "--repair-offsets",
    "data.dialect": "--from",
    "data.text": "--text",
    "set data.format: jsonl": "name the file .jsonl",
    "set data.format: json for an array": "name the file .json if it is an array",
    "data.format": "--from",
    "Set it to conll": "Give --from bio",
}
# The score and source of every entity of a row by its place and type; None where it was not predicted.
_Scores = dict[tuple[int, int, str], tuple[float, str] | None]
# (start, end, label, entry with the score)
_Entry = tuple[Any, Any, Any, Mapping[str, Any]]


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
    faults, findings = Faults(on_error=options.on_error), entity_findings()
    try:
        documents = _read(options, faults, findings)
    except ErniePPError as error:
        # Readers name the keys of a config, and here there is none.
        raise type(error)(*map(_in_our_words, (error.where, error.what, error.do))) from error
    _write(documents, options)
    return "\n".join(_summary(documents, options, faults, findings))


def _in_our_words(text: str) -> str:
    for of_config, ours in _WORDS_OF_CONFIG.items():
        text = text.replace(of_config, ours)
    return text


def _check(options: ConvertOptions) -> None:
    """ConfigError for words that name no format, or a target that is the source; RunError for one that cannot be."""
    known = (*WRITERS, "brat")
    for word, name, names in (
        ("--from", options.source_format, ("auto", *known)),
        ("--to", options.target_format, known),
    ):
        if name not in names:
            raise ConfigError(word, f"is {name!r}, which is no format of entities", f"There are: {', '.join(names)}.")
    if options.output == "-":
        raise ConfigError("--output", "is -, and a target is written whole, or not at all", "Name a file.")
    if _is_input(options):
        raise ConfigError("--output", f"is {options.output}, which is the input, or in it", "Name another file.")
    if options.target_format == "brat":
        _check_folder(options.output)
    else:
        check_writable(Path(options.output))


def _is_input(options: ConvertOptions) -> bool:
    """Whether writing the output would change what is read; a document of brat is a pair of files."""
    source, target = (Path(os.path.realpath(path)) for path in (options.input, options.output))
    if source.exists() and target.exists() and source.samefile(target):
        return True
    are_pair = source.suffix in _PAIR and target.suffix in _PAIR and source.stem == target.stem
    is_brat = options.source_format == "brat" or source.suffix == ".ann"
    return (
        source == target or target.is_relative_to(source) or (is_brat and are_pair and source.parent == target.parent)
    )


def _check_folder(output: str) -> None:
    if os.path.exists(output) and not os.path.isdir(output):
        raise ConfigError("--output", f"{output} is a file, and brat's are a folder", "Name a folder.")
    if os.path.isdir(output) and os.listdir(output):
        raise ConfigError("--output", f"{output} is a folder with files in it", "Name a new one.")


def _read(options: ConvertOptions, faults: Faults, findings: Findings) -> list[Document]:
    settings = ReadSettings(format=_format(options.source_format), kind="entities")
    # Objects of an array may stand on one line: a place of its own tells which row a document was read from.
    rows = [
        replace(row, place=replace(row.place)) for row in read_rows(options.input, settings=settings, faults=faults)
    ]
    dialect = _DIALECTS.get(options.source_format, "auto")
    if dialect == "auto" and any(_is_predicted(row) for row in rows):
        dialect = "entities"  # a label that such a row came with is no prediction
    entity_options = EntityOptions(dialect, options.text, "begin", options.repair_offsets)
    scores = {id(row.place): _scores(row, dialect, faults) for row in rows}
    documents = read_documents(rows, options=entity_options, faults=faults, findings=findings)
    faults.check()
    found = ((document, scores[id(document.place)]) for document in documents)
    return [_with_scores(document, of_row) for document, of_row in found if of_row is not None]


def _format(name: str) -> Format:
    if name in _TOKEN_FILES:
        return "conll"
    return "brat" if name == "brat" else "auto"


def _is_predicted(row: Row) -> bool:
    """Whether `predict` has written the row."""
    return any(all(name in one for name in _PREDICTED) for one in _mappings(row.fields.get("entities")))


def _mappings(values: object) -> list[Mapping[str, Any]]:
    return [one for one in values if isinstance(one, Mapping)] if isinstance(values, list) else []


def _scores(row: Row, dialect: Dialect, faults: Faults) -> _Scores | None:
    """Nothing for a row in which nothing is predicted; None for one with a score that is none, which is a fault."""
    scores: _Scores = {}
    for start, end, label, entry in _entries(row, dialect):
        if "score" in entry and not _is_score(entry["score"]):
            advice = "Correct the score, or leave it out."
            faults.add(Fault(row.place, "score", str(entry["score"]), "a number from 0 to 1", advice))
            return None
        if type(start) is int and type(end) is int and isinstance(label, str):  # else the reader tells it
            own = None if "score" not in entry else (float(entry["score"]), str(entry.get("source", "model")))
            scores[start, end, label] = own
    return scores


def _is_score(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _entries(row: Row, dialect: Dialect) -> Iterator[_Entry]:
    """The entities of a row in which any is predicted."""
    if isinstance(row.fields.get("data"), Mapping) and dialect in ("auto", "label_studio"):
        yield from _label_studio_entries(row.fields)
    elif dialect in ("auto", "entities") and _is_predicted(row):
        for one in _mappings(row.fields["entities"]):
            yield one.get("start"), one.get("end"), one.get("label"), one


def _label_studio_entries(fields: Mapping[str, Any]) -> Iterator[_Entry]:
    """Those of a task's first prediction, where nobody has annotated the task.

    A result without a score has that of the whole prediction; where this has none either, nothing is known but that
    it was predicted, and the score is 1.
    """
    annotations = _mappings(fields.get("annotations", fields.get("completions")))
    predictions = _mappings(fields.get("predictions"))
    if not predictions or any(not one.get("was_cancelled") for one in annotations):
        return
    for result in _mappings(predictions[0].get("result")):
        value = result.get("value")
        if isinstance(value, Mapping) and isinstance(value.get("labels"), list):
            score = next((one["score"] for one in (result, predictions[0]) if one.get("score") is not None), 1.0)
            for label in value["labels"]:
                yield value.get("start"), value.get("end"), label, {"score": score}


def _with_scores(document: Document, scores: _Scores) -> Document:
    """The document with predicted entities where the row had such; DataError where it cannot be told which they are."""
    if not scores or document.entities is None:
        return document
    # Repaired places have moved, but all in one way: their order is that of the row.
    keys = sorted(scores)
    if [key[2] for key in keys] != [one.label for one in document.entities]:
        what = "has predicted entities that were moved, and which score belongs to which cannot be told"
        raise DataError(str(document.place), what, "Predict the row again, or leave the scores out.")
    pairs = [(one, scores[key]) for key, one in zip(keys, document.entities, strict=True)]
    entities = [one if own is None else Mention(one.start, one.end, one.label, *own) for one, own in pairs]
    return replace(document, entities=tuple(entities))


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
    num_entities = sum(counts.values())
    entities = f"{num_entities} {'entity' if num_entities == 1 else 'entities'}"
    yield f"{say_count(len(documents), 'document')}, {entities}: {types or 'none'}"
    yield from map(_in_our_words, findings.lines())
    if faults.count:
        yield f"{say_count(faults.count, 'bad row')} left out, the first: {faults.listed[0].place}"
    yield from _lost(documents, options.target_format)
    yield f"{options.output} ({options.target_format})"


def _lost(documents: Sequence[Document], target: str) -> Iterator[str]:
    """What the target has no room for."""
    mentions = [one for document in documents for one in document.entities or () if isinstance(one, Mention)]
    by_rules = [one for one in mentions if one.source != "model"]
    # brat's files are named by the id.
    fields = [document.fields.keys() - ({"id"} if target == "brat" else set()) for document in documents]
    unmarked = [document for document in documents if document.entities is None]
    lost = (
        ("scores", len(mentions), "predicted entity", "predicted entities", target in HOLDS_SCORES),
        ("sources", len(by_rules), "entity of rules", "entities of rules", target in HOLDS_SOURCES),
        ("other fields", sum(map(bool, fields)), "document", "documents", target in HOLDS_FIELDS),
        ("that nothing is marked", len(unmarked), "document", "documents", target in HOLDS_UNMARKED),
    )
    for what, count, one, many, has_room in lost:
        if count and not has_room:
            yield f"left behind: {what} of {count} {one if count == 1 else many}, which {target} has no room for"
