"""Reviewing documents by questions: each asked, answered and written before the next."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ernie_pp.data.faults import Faults
from ernie_pp.data.questions.question import Question
from ernie_pp.data.questions.reading import question_findings, read_questions
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.data.rows import Row
from ernie_pp.durable import replaced_folder
from ernie_pp.errors import ConfigError, DataError
from ernie_pp.jobs.asked_documents import ENDINGS, rows_of_documents, settle_questions
from ernie_pp.jobs.figures import say_count
from ernie_pp.jobs.review_options import ReviewOptions
from ernie_pp.machine import set_threads
from ernie_pp.review.answers.answered import AnsweredDocument, AnsweredQuestion, Counts
from ernie_pp.review.answers.output import AnswersOutput, check_answers_output
from ernie_pp.serving import Predictor

LOG = logging.getLogger("ernie_pp")


def review_answers(options: ReviewOptions, folder: Path) -> str:
    """Write the folder of answered documents; returns what a user reads at the end."""
    check_answers_output(folder)
    _check_words(options)
    threads = set_threads(options.threads)
    predictor = Predictor(options.bundle, threads=threads, batch_tokens=options.batch_tokens, math=options.math)
    faults = Faults(on_error=options.on_error)
    questions = _read(options, predictor, faults)
    with replaced_folder(folder) as temporary, AnswersOutput(temporary) as output:
        for document in _answered(questions, predictor):
            output.add(document)
            LOG.info("%s: %s answered", document.id, say_count(len(document.questions), "question"))
        output.finish()
    for fault in faults.listed:
        LOG.warning("left out: %s", fault)
    return _describe(output.num_documents, output.counts, options, num_left_out=faults.count)


def _check_words(options: ReviewOptions) -> None:
    words = {"--fields": options.fields, "--gold": options.gold, "--text-column": options.text_column}
    for word, value in words.items():
        if value is not None:
            raise ConfigError(word, "has no effect: this bundle answers questions", "Leave it out.")
    if options.id_column != "id":
        raise ConfigError("--id-column", "has no effect: this bundle answers questions", "Leave it out.")


def _read(options: ReviewOptions, predictor: Predictor, faults: Faults) -> list[Question]:
    """The questions, those to one document on end; faults end with a DataError."""
    path, findings = Path(options.input), question_findings()
    if path.is_dir() or path.suffix.lower() in ENDINGS:
        asked = settle_questions(options.question, predictor.bundle.manifest)
        rows: Iterator[Row] = rows_of_documents(_documents(path), asked)
    elif options.question is not None:
        what = f"has no effect: {options.input} holds questions of its own"
        raise ConfigError("--question", what, "Leave it out, or give the documents as text files.")
    else:
        rows = read_rows(options.input, settings=ReadSettings(kind="questions"), faults=faults)
    questions = read_questions(rows, contradictions="answers", faults=faults, findings=findings)
    faults.check()
    for line in findings.lines():
        LOG.warning("%s", line)
    if not questions:
        raise DataError(options.input, "holds no question", "Give some, or name them: --question TEXT ...")
    _check_lengths(questions, predictor)
    return questions


def _documents(path: Path) -> list[str]:
    found = sorted(one for one in path.iterdir() if one.suffix.lower() in ENDINGS) if path.is_dir() else [path]
    if not found:
        what = f"has no file that ends in {' or '.join(ENDINGS)}"
        raise DataError(str(path), what, "Save each document as plain text in UTF-8.")
    return [str(one) for one in found]


def _check_lengths(questions: list[Question], predictor: Predictor) -> None:
    found = predictor.too_long([one.text for one in questions], [one.document.text for one in questions])
    if found:
        one = found[0]
        what = f"question {questions[one.index].id} has {one.length} tokens, and the bundle reads {one.limit} at most"
        raise DataError(str(questions[one.index].place), what, "Shorten the question.")


def _answered(questions: list[Question], predictor: Predictor) -> Iterator[AnsweredDocument]:
    for document, group in groupby(questions, key=lambda one: one.document):
        own = list(group)
        predictions = predictor([one.text for one in own], [document.text] * len(own))
        answered = tuple(
            AnsweredQuestion(one.id, one.text, prediction, None if one.kind is None else one.gold_texts)
            for one, prediction in zip(own, predictions, strict=True)
        )
        yield AnsweredDocument(document.title or document.id, document.text, answered)


def _describe(num_documents: int, counts: Counts, options: ReviewOptions, *, num_left_out: int) -> str:
    asked = f"{say_count(num_documents, 'document')}, {say_count(counts.num_questions, 'question')}"
    told = f"{asked}: {counts.num_answered} answered, "
    lines = [f"{told}{counts.num_none} without an answer, {counts.num_in_doubt} in doubt"]
    if num_left_out:
        lines.append(f"{num_left_out} left out")
    if counts.num_known:
        lines.append(f"right: {counts.num_right} of the {counts.num_known} whose answer is known")
    return "\n".join([*lines, str(Path(options.output) / "index.html")])
