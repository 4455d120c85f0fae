"""Predicting the rows of a file of any size: read, answer and write a bounded number of rows at a time.

A row that stops the job does so before the rows read with it are answered, and leaves no output file.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ernie_pp.data.faults import Faults, too_long
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.data.rows import Place, Row
from ernie_pp.errors import DataError, ErniePPError
from ernie_pp.jobs.asked_documents import rows_of_documents, settle_questions
from ernie_pp.jobs.predict_words import PredictOptions, check_bundle_words, check_words, table_words
from ernie_pp.jobs.prediction_writers import Writer, open_writer
from ernie_pp.machine import set_threads
from ernie_pp.serving import Predictor
from ernie_pp.tasks import load_codec

LOG = logging.getLogger("ernie_pp")
# Rows held at once; sorting them by length is what makes batches dense.
CHUNK_ROWS, CHUNK_CHARACTERS = 1024, 1 << 20
SECONDS_BETWEEN_LINES = 10.0
# What readers advise, and the words of `predict` that do it.
_WORDS_OF_CONFIG = {
    "set data.on_error: skip to leave them out and list them in the run folder": "give --on-error skip",
    "Correct data.text / data.label, or set data.header: false": "Correct --text-column, or give --no-header",
    "data.header: false": "--no-header",
    "set data.format: ": "give --format ",
    "data.quoting: none": "--quoting none",
    "data.format": "--format",
    "raise text.max_length, or set text.truncate to cut it": "or train with another text.max_length or text.truncate",
}


def predict_file(options: PredictOptions) -> int:
    """Write every row of the input with its prediction, in order; returns the number of rows."""
    try:
        return _predict(options)
    except ErniePPError as error:
        # Readers name the keys of a config, and here there is none.
        raise type(error)(*map(_in_our_words, (error.where, error.what, error.do))) from error


def _in_our_words(text: str) -> str:
    for of_config, ours in _WORDS_OF_CONFIG.items():
        text = text.replace(of_config, ours)
    return text


def _predict(options: PredictOptions) -> int:
    check_words(options)
    threads = set_threads(options.threads)
    predictor = Predictor(options.bundle, threads=threads, batch_tokens=options.batch_tokens, math=options.math)
    codec = load_codec(predictor.bundle.task)
    asks_documents = codec.features.ANSWERS_IN_PAIR
    check_bundle_words(options, takes_pairs=predictor.takes_pairs, asks_documents=asks_documents)
    columns = codec.example.Columns() if asks_documents else _columns(options, predictor)
    faults = Faults(on_error=options.on_error)
    tally = _Tally()
    with open_writer(options.output, options.output_format) as writer:
        for chunk in _chunks(_read(options, predictor, columns, faults)):
            kept = _short_enough(predictor, chunk, columns, faults)
            faults.check()
            tally.add(len(kept), _answer(predictor, kept, writer))
    for fault in faults.listed:
        LOG.warning('left out: %s, %s "%s", expected %s', fault.place, fault.column, fault.value, fault.expected)
    tally.close(predictor.bundle.manifest["text"], num_left_out=faults.count)
    return tally.num_rows


class _Tally:
    """Counts rows, and what the length limit cuts from them; says how far it is."""

    def __init__(self) -> None:
        self.num_rows = self.num_cut_rows = self.num_cut_tokens = 0
        self.start = self.last = time.monotonic()

    def add(self, num_rows: int, num_cut: np.ndarray) -> None:
        self.num_rows += num_rows
        self.num_cut_rows += int((num_cut > 0).sum())
        self.num_cut_tokens += int(num_cut.sum())
        now = time.monotonic()
        if now - self.last > SECONDS_BETWEEN_LINES:
            self.last = now
            LOG.info("%s predicted, %.0f rows/s", _rows(self.num_rows), self.num_rows / (now - self.start))

    def close(self, text: Mapping, *, num_left_out: int) -> None:
        if self.num_cut_rows:
            cut = f"{self.num_cut_tokens} tokens were cut from {_rows(self.num_cut_rows)}"
            LOG.warning("%s: the bundle reads %d tokens (%s)", cut, text["max_length"], text["truncate"])
        seconds = time.monotonic() - self.start
        rate = f"{self.num_rows / seconds:.1f} rows/s" if seconds > 0 else ""
        LOG.info("%s predicted, %d left out, %.1f s, %s", _rows(self.num_rows), num_left_out, seconds, rate)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _columns(options: PredictOptions, predictor: Predictor) -> Any:
    """Which fields of a row hold the text and, where the bundle takes pairs, the second one."""
    codec, trained = load_codec(predictor.bundle.task), predictor.bundle.manifest["columns"]
    if options.text is not None:
        return codec.example.Columns("text", None, None)
    pair = (options.pair_column or trained["text_pair"]) if predictor.takes_pairs else None
    return codec.example.Columns(options.text_column or trained["text"], pair, None)


def _read(options: PredictOptions, predictor: Predictor, columns: Any, faults: Faults) -> Iterator[tuple[dict, Any]]:
    """(the row's fields, its example) of every sound row."""
    codec = load_codec(predictor.bundle.task)
    trained = predictor.bundle.manifest["columns"]
    if options.text is not None:
        rows: Iterator[Row] = iter(_given_rows(options.text))
    elif options.document is not None:
        questions = settle_questions(options.question, predictor.bundle.manifest)
        rows = rows_of_documents(options.document, questions)
    else:
        settings = ReadSettings(
            format=options.format,
            header=trained["header"] if options.header is None else options.header,
            quoting=options.quoting or trained["quoting"],
            columns=() if codec.example.ROW_KIND == "questions" else _text_columns(columns),
            kind=codec.example.ROW_KIND,
            split=options.split or "train",
            only_tables=next((word for word, given in table_words(options).items() if given), None),
        )
        rows = read_rows(options.input or "-", settings=settings, faults=faults)
    for row in rows:
        for example in codec.example.read_examples([row], columns, faults):
            yield codec.example.fields_of(row, example), example
    faults.check()


def _text_columns(columns: Any) -> tuple[str, ...]:
    return tuple(name for name in (columns.text, columns.text_pair) if name is not None)


def _given_rows(texts: list[str]) -> Iterator[Row]:
    for number, text in enumerate(texts, start=1):
        yield Row(Place("--text", number), {"text": text})


def _chunks(rows: Iterator[tuple[dict, Any]]) -> Iterator[list[tuple[dict, Any]]]:
    chunk: list[tuple[dict, Any]] = []
    size = 0
    for fields, example in rows:
        chunk.append((fields, example))
        # All fields are held, whatever the text's share of them is.
        size += sum(len(value) if isinstance(value, str) else len(str(value)) for value in fields.values())
        size += len(example.text_pair or "")
        if len(chunk) >= CHUNK_ROWS or size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _short_enough(
    predictor: Predictor, chunk: list[tuple[dict, Any]], columns: Any, faults: Faults
) -> list[tuple[dict, Any]]:
    """The rows within the length limit, each other one being a fault, where the bundle refuses to cut; else all."""
    found = predictor.too_long(*_texts(predictor, chunk))
    for one in found:
        faults.add(too_long(chunk[one.index][1].place, " + ".join(_text_columns(columns)), one))
    left_out = {one.index for one in found}
    return [row for index, row in enumerate(chunk) if index not in left_out]


def _texts(predictor: Predictor, chunk: list[tuple[dict, Any]]) -> tuple[list[str], list[str] | None]:
    texts = [example.text for _, example in chunk]
    return texts, [example.text_pair for _, example in chunk] if predictor.takes_pairs else None


def _answer(predictor: Predictor, chunk: list[tuple[dict, Any]], writer: Writer) -> np.ndarray:
    """Write the rows with their predictions; what the length limit cut from each."""
    if not chunk:
        return np.zeros(0, np.int32)
    texts, pairs = _texts(predictor, chunk)
    example_of = load_codec(predictor.bundle.task).example
    predictions, num_cut = predictor.predict(texts, pairs)
    for (fields, example), prediction in zip(chunk, predictions, strict=True):
        added, kept = prediction.to_fields(), example_of.kept_fields(fields)
        taken = sorted(added.keys() & kept.keys())
        if taken:
            what = f"has a field {taken[0]!r} already, which the prediction would replace"
            raise DataError(str(example.place), what, "Rename that field.")
        writer.write({**kept, **added}, place=example.place)
    return num_cut
