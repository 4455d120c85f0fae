"""Tokens of questions and their documents, and what a head has to learn of the answers.

numpy only: training, evaluation, prediction and serving encode here.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ernie_pp.data.questions.question import Question
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import DataError
from ernie_pp.text.characters import KEPT, classify
from ernie_pp.text.encoding import EncodedRows, Encoding, join_rows
from ernie_pp.text.invisible import is_invisible
from ernie_pp.text.pair_windows import (
    QuestionWindows,
    room_for_document,
    room_for_questions,
    tokenize_documents,
)
from ernie_pp.text.ranking import pick_windows
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.text.truncation import NUM_SPECIAL, TooLong
from ernie_pp.text.window_rows import Span, tokens_of_span

# Answers are places in the second text.
ANSWERS_IN_PAIR = True
_SHORTEN = "Shorten the question, or raise text.max_length: a quarter of it at least is left to the document."
# Targets of a row: of one without the answer, and of one whose answer is yes or no.
NO_SPAN, YES_TARGET, NO_TARGET = 0, -1, -2


@dataclass(frozen=True)
class TrueAnswer:
    """What training knows of a question: the place of its answer, if it has one, and whether it is yes or no."""

    span: Span | None = None
    is_yes_or_no: bool = False


def too_long(
    texts: Sequence[str], pairs: Sequence[str] | None, tokenizer: Tokenizer, text: Mapping[str, Any]
) -> list[TooLong]:
    """The questions that would leave too little room to their documents."""
    limit = room_for_questions(text["max_length"])
    lengths = tokenizer.count_tokens(texts) - NUM_SPECIAL
    return [TooLong(int(index), int(lengths[index]), limit, _SHORTEN) for index in np.flatnonzero(lengths > limit)]


def encode(
    texts: Sequence[str],
    pairs: Sequence[str] | None,
    tokenizer: Tokenizer,
    text: Mapping[str, Any],
) -> EncodedRows:
    """Rows of each question with every window of its document: `texts` are questions, `pairs` documents."""
    return _joined([one.rows(index, tokenizer) for index, one in enumerate(_cut(texts, pairs, tokenizer, text))])


def encode_in_parts(
    texts: Sequence[str],
    pairs: Sequence[str] | None,
    tokenizer: Tokenizer,
    text: Mapping[str, Any],
    *,
    max_tokens: int,
) -> Iterator[EncodedRows]:
    """The same rows, about `max_tokens` at once, so that memory does not grow with documents and questions."""
    held, size = [], 0
    for index, one in enumerate(_cut(texts, pairs, tokenizer, text)):
        for part in one.parts(max_tokens):
            held.append(part.rows(index, tokenizer))
            size += len(held[-1].ids)
            if size >= max_tokens:
                yield join_rows(held)
                held, size = [], 0
    if held:
        yield join_rows(held)


def encode_for_training(
    examples: Sequence[Question], tokenizer: Tokenizer, text: Mapping[str, Any], *, empty_windows: int | None
) -> EncodedRows:
    """Rows of questions whose answers are known: an answer that fits stands whole in some window.

    Of the windows without it a question keeps `empty_windows` (None: all), taken at random by the question itself.
    """
    true = [true_answer(example) for example in examples]
    keep = [() if one.span is None else (one.span,) for one in true]
    questions, documents = [one.text for one in examples], [one.document.text for one in examples]
    windows = _cut_whole(questions, documents, tokenizer, text, keep)
    parts = []
    for index, (one, answer) in enumerate(zip(windows, true, strict=True)):
        chosen = one.select(_to_learn_from(one, answer, empty_windows, seed=_seed(questions[index])))
        parts.append(chosen.rows(index, tokenizer))
    return _joined(parts)


def true_answer(example: Question) -> TrueAnswer:
    """The place most of its answers name, the first of several; a question without an answer has none.

    What shows nothing at an edge counts for nothing: no token has it, and a window may begin or end there.
    """
    if example.kind in ("yes", "no"):
        return TrueAnswer(is_yes_or_no=True)
    text, known = example.document.text, [one for one in example.answers if one.start is not None]
    spans = [_without_tokenless_edges(text, one.start or 0, one.end or 0) for one in known]
    # Counter keeps the order in which it met them.
    return TrueAnswer(Counter(spans).most_common(1)[0][0] if spans else None)


def answer_targets(rows: TokenRows, examples: Sequence[Question]) -> np.ndarray:
    """int64 [rows, 2]: first and last token of the answer, where it stands whole in the row, else NO_SPAN twice."""
    true = [true_answer(example) for example in examples]
    targets = np.full((len(rows), 2), NO_SPAN, dtype=np.int64)
    for row, index in enumerate(_examples_of(rows)):
        if true[index].is_yes_or_no:
            targets[row] = YES_TARGET if examples[index].kind == "yes" else NO_TARGET
        elif true[index].span is not None:
            found = span_of_row(rows, row, true[index].span or (0, 0))
            targets[row] = found if found is not None else NO_SPAN
    return targets


def span_of_row(rows: TokenRows, row: int, span: Span) -> Span | None:
    """First and last token, inclusive, of the characters of a span in a row; None where they are not all in it."""
    begin, (starts, ends) = document_places(rows, row)
    if not len(starts) or span[0] < starts[0] or span[1] > ends[-1]:
        return None
    first, last = tokens_of_span(starts, ends, span)
    return (begin + first, begin + last - 1) if last > first else None


def document_places(rows: TokenRows, row: int) -> tuple[int, np.ndarray]:
    """(index in the row of the first token of the document, places of its tokens: int [2, tokens])."""
    assert rows.offsets is not None, "documents are encoded with offsets"
    start, end = int(rows.row_starts[row]), int(rows.row_starts[row + 1])
    begin = int(np.argmax(rows.type_ids[start:end]))
    return begin, rows.offsets[start + begin : end - 1].T


def inexpressible(rows: TokenRows, examples: Sequence[Question]) -> list[Question]:
    """The questions whose answer stands whole in no row."""
    found = np.zeros(len(examples), bool)
    true = [true_answer(example).span for example in examples]
    for row, index in enumerate(_examples_of(rows)):
        span = true[index]
        found[index] = found[index] or span is None or span_of_row(rows, row, span) is not None
    return [example for example, span, is_there in zip(examples, true, found, strict=True) if span and not is_there]


def ranker_recall(rows: TokenRows, examples: Sequence[Question], *, limit: int) -> tuple[int, int]:
    """(answers that stand whole in a window, answers) of questions of which only `limit` windows are read."""
    counts = np.bincount(_examples_of(rows), minlength=len(examples))
    lost = {id(one) for one in inexpressible(rows, examples)}
    asked = [one for one, count in zip(examples, counts, strict=True) if count >= limit and one.kind == "span"]
    return sum(id(one) not in lost for one in asked), len(asked)


def _examples_of(rows: TokenRows) -> list[int]:
    assert rows.example_index is not None, "rows are windows"
    return rows.example_index.tolist()


def _cut(
    texts: Sequence[str],
    pairs: Sequence[str] | None,
    tokenizer: Tokenizer,
    text: Mapping[str, Any],
) -> Iterator[QuestionWindows]:
    """The windows each question is read with: all of its document, or the `text["ranked_windows"]` most like it."""
    limit = text.get("ranked_windows")
    for question, one in zip(texts, _cut_whole(texts, pairs, tokenizer, text), strict=True):
        if limit is None or len(one.windows) <= limit:
            yield one
        else:
            characters = one.document.characters_of(one.windows)
            yield one.select(pick_windows(question, one.document.text, characters, limit=limit))


def _cut_whole(
    texts: Sequence[str],
    pairs: Sequence[str] | None,
    tokenizer: Tokenizer,
    text: Mapping[str, Any],
    keep: Sequence[Sequence[Span]] | None = None,
) -> Iterator[QuestionWindows]:
    assert pairs is not None, "a question has a document"
    documents = tokenize_documents(pairs, tokenizer)
    questions = tokenizer.encode(texts, max_length=1 << 40, truncate="error")
    for index, question in enumerate(questions):
        _check_room(index, question, text["max_length"])
        document, size = documents[pairs[index]], room_for_document(question, text["max_length"])
        kept = () if keep is None else keep[index]
        windows = document.windows(size=size, overlap=text["overlap"], keep=kept)
        yield QuestionWindows(question, document, windows)


def _check_room(index: int, question: Encoding, max_length: int) -> None:
    """DataError for a question that `too_long` names: jobs leave those out before they come here."""
    length, limit = len(question.ids) - NUM_SPECIAL, room_for_questions(max_length)
    if length > limit:
        what = f"has {length} tokens, expected at most {limit} (text.max_length is {max_length})"
        raise DataError(f"question number {index}", what, _SHORTEN)


def _to_learn_from(one: QuestionWindows, answer: TrueAnswer, most_empty: int | None, *, seed: int) -> np.ndarray:
    """Indexes of the windows a question is learned from, ascending."""
    every, (firsts, lasts) = np.arange(len(one.windows)), one.windows.T
    if answer.is_yes_or_no:
        return every
    first, last = (0, 0) if answer.span is None else tokens_of_span(one.document.starts, one.document.ends, answer.span)
    has_answer = (firsts <= first) & (last <= lasts) & (first < last)
    empty = every[~has_answer]
    if answer.span is not None and not has_answer.any():
        # No window holds it whole: those that show a part of it must not teach that there is none.
        empty = every[(lasts <= first) | (last <= firsts)]
    wanted = most_empty if most_empty is None or answer.span is not None else most_empty + 1
    if wanted is not None and len(empty) > wanted:
        empty = np.random.default_rng(seed).choice(empty, wanted, replace=False)
    return np.sort(np.concatenate([every[has_answer], empty]))


def _without_tokenless_edges(text: str, start: int, end: int) -> Span:
    """The span without blanks and other characters that give no token; as it is where there is nothing else."""
    shown = [place for place in range(start, end) if _may_be_token(text[place])]
    return (shown[0], shown[-1] + 1) if shown else (start, end)


def _may_be_token(character: str) -> bool:
    return classify(character)[0] == KEPT and not is_invisible(character)


def _seed(question: str) -> int:
    return zlib.crc32(question.encode("utf-8", "surrogatepass"))


def _joined(parts: list[EncodedRows]) -> EncodedRows:
    if parts:
        return join_rows(parts)
    none = np.zeros(0, np.int64)
    return EncodedRows(none, none, np.zeros((0, 2), np.int32), np.zeros(1, np.int64), none, none)
