"""The rows of a run, read, checked and tokenised."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ernie_pp.config import RunConfig, TextConfig
from ernie_pp.data.cache import cache_key, load_or_build
from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import DataError
from ernie_pp.jobs.lengths import too_long
from ernie_pp.text.normalize import Normalization
from ernie_pp.text.tokenizer import Tokenizer

LOG = logging.getLogger("ernie_pp")


@dataclass(frozen=True)
class Split:
    """Examples of one split and, row for row, their tokens and targets."""

    name: str
    source: str
    examples: Sequence[Any]
    rows: TokenRows


def read_examples(config: RunConfig, task: Any, name: str, source: str, faults: Faults) -> list[Any]:
    """The sound examples of one source; bad rows stop the run or are counted in `faults`, as the config says."""
    data, columns = config.data, task.columns
    settings = ReadSettings(
        format=data.format,
        header=data.header,
        quoting=data.quoting,
        columns=tuple(name for name in (columns.text, columns.text_pair, columns.label) if name is not None),
        split=getattr(data, f"{name}_split", "train"),
    )
    before = faults.count
    examples = task.read(read_rows(source, settings=settings, faults=faults), faults)
    faults.check()
    if faults.count > before:
        LOG.warning("%s: %d bad rows left out of %s", name, faults.count - before, source)
    _check_some(examples, faults)
    return examples


def keep_short_enough(
    config: RunConfig, task: Any, tokenizer: Tokenizer, examples: Sequence[Any], faults: Faults
) -> Sequence[Any]:
    """Under `text.truncate: error` the examples within the length limit, each other one being a fault; else all."""
    if config.text.truncate != "error":
        return examples
    kept = []
    for example, length in zip(examples, tokenizer.count_tokens(*task.texts(examples)), strict=True):
        if length <= config.text.max_length:
            kept.append(example)
        else:
            faults.add(too_long(example, int(length), limit=config.text.max_length))
    faults.check()
    _check_some(kept, faults)
    return kept


def _check_some(examples: Sequence[Any], faults: Faults) -> None:
    if not examples:
        first = faults.listed[0]
        what = f'no usable row is left; the first: {first.column} "{first.value}", expected {first.expected}'
        raise DataError(str(first.place), what, first.advice)


def tokenise(
    config: RunConfig, task: Any, tokenizer: Tokenizer, *, name: str, source: str, examples: Sequence[Any], cache: Path
) -> Split:
    """Tokens of a split, from the cache where the same texts were tokenised the same way before."""
    texts, pairs = task.texts(examples)
    key = cache_key(
        {
            "texts": _hash_texts([texts, pairs or []]),
            "vocabulary": _hash_texts([tokenizer.tokens()]),
            "text": config.text.model_dump(mode="json"),
        }
    )
    rows = load_or_build(cache, key, lambda: TokenRows.from_encoded(task.encode(examples, tokenizer)))
    log_cut(name, rows, config.text)
    return Split(name, source, examples, rows.with_targets(task.targets(examples)))


def log_cut(name: str, rows: TokenRows, text: TextConfig) -> None:
    """Say what the length limit costs; nothing is cut in silence."""
    num_cut_rows, num_cut = int((rows.num_cut > 0).sum()), int(rows.num_cut.sum())
    total = len(rows.ids) + num_cut
    LOG.info("%s: %d rows, %d tokens, longest %d", name, len(rows), total, int((rows.lengths + rows.num_cut).max()))
    if num_cut_rows:
        share = f"{100 * num_cut_rows / len(rows):.1f} % of the rows, {100 * num_cut / total:.1f} % of the tokens"
        kept = {"head": "the head is", "tail": "the tail is", "middle": "both ends are"}[text.truncate]
        LOG.warning("%s: text.max_length %d cuts %s; %s kept", name, text.max_length, share, kept)


def build_tokenizer(vocabulary: Path, text: TextConfig) -> Tokenizer:
    """The tokenizer of a vocabulary file, with the normalisation the config asks for."""
    normalization = Normalization(text.width, text.simplified, text.blanks, text.invisible)
    return Tokenizer.from_vocab(vocabulary, normalization=normalization)


def unknown_rate(rows: TokenRows, tokenizer: Tokenizer) -> float:
    """Share of the tokens that the vocabulary does not know."""
    return float(np.mean(rows.ids == tokenizer.unk_id)) if len(rows.ids) else 0.0


def _hash_texts(columns: Sequence[Sequence[str]]) -> str:
    digest = hashlib.sha256()
    for column in columns:
        digest.update(f"{len(column)}\n".encode())
        for text in column:
            content = text.encode("utf-8", "surrogatepass")
            digest.update(f"{len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()
