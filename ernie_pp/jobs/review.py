"""Reviewing documents of any number: found, filled, written and measured a bounded number at a time."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ernie_pp.config.ner import FieldConfig
from ernie_pp.data.entities.document import Mention
from ernie_pp.data.faults import Faults
from ernie_pp.durable import replaced_folder
from ernie_pp.errors import ConfigError, DataError
from ernie_pp.export.bundle import open_bundle
from ernie_pp.jobs.figures import say_count
from ernie_pp.jobs.review_answers import review_answers
from ernie_pp.jobs.review_options import ReviewOptions
from ernie_pp.machine import set_threads
from ernie_pp.review.evaluate import FieldOutcome, ReviewFigures, compare_field, measure_fields, read_gold
from ernie_pp.review.fields import fill_fields
from ernie_pp.review.output import MAX_ERRORS, ReviewOutput, check_output
from ernie_pp.review.reviewed import ReviewedDocument
from ernie_pp.review.settings import check_fields, check_labels, read_fields
from ernie_pp.review.sources import SourceDocument, SourceSettings, read_sources
from ernie_pp.review.wrong import ReviewError, list_errors
from ernie_pp.serving import Predictor

LOG = logging.getLogger("ernie_pp")
# Documents held at once; their windows are run sorted by length.
CHUNK_DOCUMENTS, CHUNK_CHARACTERS = 64, 1 << 18

FindMentions = Callable[[Sequence[str]], Sequence[tuple[Mention, ...]]]


def review_documents(options: ReviewOptions, find_mentions: FindMentions | None = None) -> str:
    """Write the review's folder; returns what a user reads at the end.

    `find_mentions` takes the place of the bundle's model: a tuple of mentions a text.
    """
    folder = Path(os.path.realpath(options.output))
    bundle = open_bundle(options.bundle)
    if bundle.task == "docqa":
        return review_answers(options, folder)
    check_output(folder)
    if bundle.task != "ner":
        what = f"is of task {bundle.task}; a review is made of entities, or of answers to questions"
        raise ConfigError(str(bundle.folder), what, "Train and export a config with task: ner or docqa.")
    if options.question is not None:
        raise ConfigError("--question", "has no effect: this bundle finds entities", "Leave it out.")
    configs = _read_configs(options, bundle.manifest)
    if find_mentions is None:
        check_labels(configs, known=bundle.manifest["decode"].get("labels"), source=options.fields or options.bundle)
    settings = SourceSettings(
        text=options.text_column or bundle.manifest["columns"]["text"], id=options.id_column, gold=options.gold
    )
    find = find_mentions or _bundle_mentions(options)
    faults = Faults(on_error=options.on_error)
    documents = _chunks(read_sources(options.input, settings, faults))
    with replaced_folder(folder) as temporary, ReviewOutput(temporary, [one.name for one in configs]) as output:
        tally = _review(documents, find, configs, output, gold=options.gold)
        figures = None if options.gold is None else measure_fields(tally.outcomes)
        output.finish(figures, tally.errors)
    for fault in faults.listed:
        LOG.warning('left out: %s, %s "%s", expected %s', fault.place, fault.column, fault.value, fault.expected)
    if tally.unknown:
        LOG.warning("true values of no field are not counted: %s", ", ".join(sorted(map(str, tally.unknown))))
    return _describe(Path(options.output), tally, figures, num_left_out=faults.count)


@dataclass
class _Tally:
    """What is known of the documents so far."""

    num_documents: int = 0
    num_to_look_at: int = 0
    outcomes: list[list[FieldOutcome]] = field(default_factory=list)
    errors: list[ReviewError] = field(default_factory=list)
    unknown: set[object] = field(default_factory=set)  # names of true values no field has


def _read_configs(options: ReviewOptions, manifest: Mapping) -> tuple[FieldConfig, ...]:
    if options.fields is not None:
        return read_fields(options.fields)
    section = manifest.get("review")
    values = section.get("fields") if isinstance(section, Mapping) else None
    if not values:
        what = "says nothing of fields (review.fields of the config it was trained with)"
        raise ConfigError(options.bundle, what, "Give them: --fields FILE.")
    return check_fields(values, source=options.bundle)


def _bundle_mentions(options: ReviewOptions) -> FindMentions:
    threads = set_threads(options.threads)
    predictor = Predictor(options.bundle, threads=threads, batch_tokens=options.batch_tokens, math=options.math)
    return lambda texts: [prediction.mentions for prediction in predictor(texts)]


def _chunks(documents: Iterator[SourceDocument]) -> Iterator[list[SourceDocument]]:
    chunk: list[SourceDocument] = []
    size = 0
    for document in documents:
        chunk.append(document)
        size += len(document.text)
        if len(chunk) >= CHUNK_DOCUMENTS or size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _review(
    chunks: Iterator[list[SourceDocument]],
    find: FindMentions,
    configs: Sequence[FieldConfig],
    output: ReviewOutput,
    *,
    gold: str | None,
) -> _Tally:
    tally = _Tally()
    for chunk in chunks:
        # Checked first: a row that stops the job does so before the model works on it.
        golds = [_gold_of(document, gold, configs, tally) for document in chunk]
        found = find([document.text for document in chunk])
        for document, mentions, true in zip(chunk, found, golds, strict=True):
            fields = fill_fields(document.text, mentions, configs)
            reviewed = ReviewedDocument(document.id, document.text, tuple(mentions), fields)
            output.add(reviewed)
            tally.num_documents += 1
            tally.num_to_look_at += reviewed.num_to_look_at > 0
            if true is not None:
                _compare(reviewed, true, configs, tally)
    return tally


def _gold_of(
    document: SourceDocument, gold: str | None, configs: Sequence[FieldConfig], tally: _Tally
) -> list[tuple[str, ...]] | None:
    """The true values of each field; None where the job does not ask for them."""
    if gold is None:
        return None
    values = document.fields[gold]
    if not isinstance(values, Mapping):
        what = f"{gold}: is {type(values).__name__}, expected an object with a value a field"
        raise DataError(str(document.place), what, 'Write {"甲方": "...", "日期": ["...", "..."]}.')
    tally.unknown |= values.keys() - {one.name for one in configs}
    return [read_gold(values.get(one.name), where=f"{document.place} {gold}.{one.name}") for one in configs]


def _compare(
    document: ReviewedDocument, golds: Sequence[tuple[str, ...]], configs: Sequence[FieldConfig], tally: _Tally
) -> None:
    pairs = zip(document.fields, golds, configs, strict=True)
    outcomes = [compare_field(one, gold, config) for one, gold, config in pairs]
    tally.outcomes.append(outcomes)
    room = MAX_ERRORS - len(tally.errors)
    tally.errors += list(list_errors(document.id, document.text, document.fields, golds, outcomes))[:room]


def _describe(folder: Path, tally: _Tally, figures: ReviewFigures | None, *, num_left_out: int) -> str:
    lines = [f"{say_count(tally.num_documents, 'document')} reviewed, {tally.num_to_look_at} of them to look at"]
    if num_left_out:
        lines.append(f"{num_left_out} left out")
    if figures is not None:
        low, high = figures.interval
        micro = figures.micro
        lines.append(f"fields: F1 {micro.f1:.3f} ({low:.3f} to {high:.3f}), precision {micro.precision:.3f}")
        lines[-1] += f", recall {micro.recall:.3f}"
    return "\n".join([*lines, str(folder / "index.html")])
