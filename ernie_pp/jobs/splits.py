"""The rows of a run, read, checked and tokenized."""

from __future__ import annotations

import hashlib
import logging
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ernie_pp.config import RunConfig, TextConfig
from ernie_pp.data.cache import cache_key, load_or_build
from ernie_pp.data.faults import Faults, too_long
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.data.split import Split
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import DataError
from ernie_pp.jobs.figures import say_count
from ernie_pp.tasks.interface import Task
from ernie_pp.text.normalize import Normalization
from ernie_pp.text.tokenizer import Tokenizer

LOG = logging.getLogger("ernie_pp")
# To be raised when our code makes other tokens of the same text: older tokens in a cache are then made again.
TOKENIZATION_VERSION = "1"


@dataclass(frozen=True)
class SplitReader:
    """Reads and tokenizes the splits of one run.

    Bad rows stop the run or are counted in `faults`, as the config says. `cache` is where tokens are kept.
    """

    config: RunConfig
    task: Task
    tokenizer: Tokenizer
    faults: Faults
    cache: Path

    def read_examples(self, source: str, *, dataset_split: str) -> Sequence[Any]:
        """The sound examples of one source, their labels not looked up yet; a dataset has splits of its own."""
        data, before = self.config.data, self.faults.count
        settings = ReadSettings(
            format=data.format,
            header=data.header,
            quoting=data.quoting,
            columns=self.task.column_names,
            split=dataset_split,
            kind=self.task.row_kind,
        )
        rows = read_rows(source, settings=settings, faults=self.faults)
        return self._checked(self.task.read(rows, self.faults), source, before)

    def tokenize(self, name: str, source: str, examples: Sequence[Any], *, is_training: bool = False) -> Split:
        """Examples with the run's labels, and their tokens, from the cache where the same were made before.

        `is_training`: the true answers may decide how a long example is cut into rows.
        """
        before = self.faults.count
        examples = self._checked(self.task.keep_known(examples, self.faults), source, before)
        before = self.faults.count
        examples = self._checked(self._keep_short_enough(examples), source, before)
        if is_training:
            examples = self.task.augment(examples)
        key = self._cache_key(examples, is_training=is_training)
        rows = load_or_build(self.cache, key, lambda: self._encode(examples, is_training=is_training))
        if not len(rows):
            what = "gives no row to learn from: no window holds an answer whole"
            raise DataError(source, what, "Raise text.max_length, or shorten the answers.")
        log_tokens(name, rows, self.config.text)
        for line in self.task.inexpressible(examples, rows):
            LOG.warning("%s: %s", name, line)
        return Split(name, source, examples, rows.with_targets(self.task.targets(examples, rows)))

    def _encode(self, examples: Sequence[Any], *, is_training: bool) -> TokenRows:
        return TokenRows.from_encoded(self.task.encode(examples, self.tokenizer, is_training=is_training))

    def _keep_short_enough(self, examples: Sequence[Any]) -> Sequence[Any]:
        column, found = " + ".join(self.task.text_columns), self.task.too_long(examples, self.tokenizer)
        for one in found:
            self.faults.add(too_long(examples[one.index].place, column, one))
        left_out = {one.index for one in found}
        return [one for index, one in enumerate(examples) if index not in left_out] if found else examples

    def _checked(self, examples: Sequence[Any], source: str, before: int) -> Sequence[Any]:
        """The same examples; DataError where faults stop the run, or where no example is left."""
        self.faults.check()
        num_faults = self.faults.count - before
        if num_faults:
            LOG.warning("%s: %s left out", source, say_count(num_faults, "bad row"))
        if examples:
            return examples
        first = self.faults.listed[before : before + 1]
        if not first:
            raise DataError(source, f"no usable row is left, {num_faults} are bad", "Correct the rows.")
        what = f'no usable row is left; the first: {first[0].column} "{first[0].value}", expected {first[0].expected}'
        raise DataError(str(first[0].place), what, first[0].advice)

    def _cache_key(self, examples: Sequence[Any], *, is_training: bool) -> str:
        texts, pairs = self.task.texts(examples)
        return cache_key(
            {
                "task": self.config.task,
                "tokenization": TOKENIZATION_VERSION,
                "unicode": unicodedata.unidata_version,
                "texts": _hash_texts([texts, pairs or []]),
                "vocabulary": _hash_texts([self.tokenizer.tokens()]),
                "text": self.config.text.model_dump(mode="json"),
                "kept_whole": self.task.kept_whole(examples) if is_training else None,
            }
        )


def log_tokens(name: str, rows: TokenRows, text: TextConfig) -> None:
    """Say how many there are, and what the length limit costs; nothing is cut in silence."""
    num_cut_rows, num_cut = int((rows.num_cut > 0).sum()), int(rows.num_cut.sum())
    total = len(rows.ids) + num_cut
    LOG.info("%s: %d rows, %d tokens, longest %d", name, len(rows), total, int((rows.lengths + rows.num_cut).max()))
    if rows.example_index is not None and len(rows) > rows.example_index[-1] + 1:
        shared = f"neighbouring ones share about {text.shared_tokens} tokens"
        LOG.info("%s: long texts are read in windows of %d tokens; %s", name, text.max_length, shared)
    if num_cut_rows:
        share = f"{100 * num_cut_rows / len(rows):.1f} % of the rows, {100 * num_cut / total:.1f} % of the tokens"
        kept = {"head": "the head is", "tail": "the tail is", "middle": "both ends are"}[text.truncate]
        LOG.warning("%s: text.max_length %d cuts %s; %s kept", name, text.max_length, share, kept)


def build_tokenizer(vocabulary: Path, text: TextConfig) -> Tokenizer:
    """The tokenizer of a vocabulary file, with the normalization the config asks for."""
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
