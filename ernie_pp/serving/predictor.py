"""A bundle as a Python object: texts in, predictions out. Imports neither PaddleNLP nor paddle.distributed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ernie_pp.choices import Math
from ernie_pp.data.batches import build_micro_batch
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import DataError, ModelError
from ernie_pp.export.bundle import open_bundle
from ernie_pp.export.runtime_choice import read_choice
from ernie_pp.export.sessions import open_session
from ernie_pp.machine import switch_math
from ernie_pp.serving.shapes import pad_to, split_into_shapes, width_of
from ernie_pp.serving.trained import read_decoding
from ernie_pp.serving.work import Questions, QuestionWork, TextWork, Work
from ernie_pp.tasks import load_codec
from ernie_pp.text import Tokenizer
from ernie_pp.text.invisible import is_blank
from ernie_pp.text.truncation import TooLong

LOG = logging.getLogger("ernie_pp")
DEFAULT_BATCH_TOKENS = 4096
# Tokens of questions and windows that are held at once, padding not counted.
PART_TOKENS = 1 << 17


class Predictor:
    """Answers with an exported bundle.

    >>> predictor = Predictor("runs/sentiment/bundle")
    >>> predictor(["房间很干净"])[0].labels
    ('正面',)

    Not for several threads at once: give each thread a Predictor of its own.
    """

    def __init__(
        self,
        bundle: str | Path,
        *,
        threads: int | None = None,
        batch_tokens: int = DEFAULT_BATCH_TOKENS,
        math: Math = "auto",
    ) -> None:
        """`threads` math threads (none: as `ernie-pp bench --write` measured here, or else one a core).

        `batch_tokens` bounds the tokens, padding counted, run at once.

        `math` "auto" sets MKL_DEBUG_CPU_TYPE for this process on AMD CPUs, which makes answers come
        sooner; "off" leaves it alone. No other variable is set. The variable ERNIE_PP_PLAIN_PADDLE, set to anything,
        has Paddle loaded by `import paddle` instead of its C++ module alone, which is quicker.
        """
        slow_path = switch_math(math, off="math: off")
        if slow_path is not None:
            LOG.warning("%s", slow_path)
        self.bundle = open_bundle(bundle)
        self._codec = load_codec(self.bundle.task)
        self.decoding = read_decoding(self.bundle, self._codec)
        self.tokenizer = Tokenizer.from_folder(self.bundle.folder)
        self.batch_tokens = batch_tokens
        self._session = open_session(self.bundle, read_choice(self.bundle, threads=threads))

    def __call__(self, texts: Sequence[str], pairs: Sequence[str] | None = None) -> list[Any]:
        """One prediction a text (or pair), in the same order; DataError names a text that is none."""
        _check_list(texts, "text")
        return [] if len(texts) == 0 else self.predict(texts, pairs)[0]

    def predict(self, texts: Sequence[str], pairs: Sequence[str] | None = None) -> tuple[list[Any], np.ndarray]:
        """(one prediction a text or pair, how many tokens the length limit took from each row)."""
        work = self.begin(texts, pairs)
        while (rows := work.next(PART_TOKENS)) is not None:
            work.take(self.answers(rows))
        return work.result()

    def begin(self, texts: Sequence[str], pairs: Sequence[str] | None = None) -> Work:
        """Texts (or pairs) to be answered a bounded part at a time; DataError for a text that is none."""
        seconds = self._checked(texts, pairs)
        if self._codec.features.ANSWERS_IN_PAIR:
            assert seconds is not None, "such a bundle takes pairs"
            windows = Questions(texts, seconds, self.tokenizer, self.bundle.manifest["text"])
            return QuestionWork(self._codec, windows, self.decoding)
        return TextWork(self._codec, texts, self.encode(texts, pairs), self.decoding)

    def too_long(self, texts: Sequence[str], pairs: Sequence[str] | None) -> Sequence[TooLong]:
        """The texts that may not be cut and are longer than the bundle reads."""
        return self._codec.features.too_long(texts, pairs, self.tokenizer, self.bundle.manifest["text"])

    def answers(self, rows: TokenRows) -> list[Any]:
        """Of each row what decides, in their order; the model's whole output is held for one batch at a time."""
        answers: list[Any] = [None] * len(rows)
        for batch in split_into_shapes(rows.lengths, max_tokens=max(self.batch_tokens, int(rows.lengths.max()))):
            logits = self._run(rows, batch)
            found = self._codec.decode.condense(logits, rows.select(batch), self.decoding)
            for index, answer in zip(batch, found, strict=True):
                answers[index] = answer
        return answers

    def encode(self, texts: Sequence[str], pairs: Sequence[str] | None = None) -> TokenRows:
        """The tokens the model sees; `num_cut` says how many the length limit took from each row."""
        seconds = self._checked(texts, pairs)
        encoded = self._codec.features.encode(list(texts), seconds, self.tokenizer, self.bundle.manifest["text"])
        return TokenRows.from_encoded(encoded)

    def _checked(self, texts: Sequence[str], pairs: Sequence[str] | None) -> list[str] | None:
        """The second texts; DataError for what is no text, and where there are too many or too few."""
        _check_texts(texts, "text")
        if self.takes_pairs != (pairs is not None):
            kind, need = (
                ("pairs", "a second text for each") if self.takes_pairs else ("single texts", "no second texts")
            )
            raise DataError("pairs", f"this bundle was trained on {kind}", f"Give {need}.")
        if pairs is not None:
            _check_texts(pairs, "second text")
            if len(pairs) != len(texts):
                raise DataError("pairs", f"{len(pairs)} came for {len(texts)} texts", "Give one second text a text.")
        return None if pairs is None else list(pairs)

    @property
    def takes_pairs(self) -> bool:
        """Whether the model was trained on pairs of texts: a question and its document are one."""
        return self._codec.features.ANSWERS_IN_PAIR or self.bundle.manifest["columns"]["text_pair"] is not None

    def _run(self, rows: TokenRows, batch: np.ndarray) -> np.ndarray:
        pad_id = self.tokenizer.pad_id
        micro_batch = build_micro_batch(rows, batch, pad_id=pad_id)
        width = width_of(micro_batch.input_ids.shape[1], limit=self.bundle.manifest["text"]["max_length"])
        logits = self._session.run(
            pad_to(micro_batch.input_ids, width, pad_id), pad_to(micro_batch.token_type_ids, width, 0)
        )
        try:
            self.decoding.check_output(logits.shape, width)
        except ValueError as error:
            advice = "Copy the bundle again, whole, or export it again."
            raise ModelError(str(self.bundle.folder), str(error), advice) from error
        return logits


def _check_texts(texts: Sequence[str], what: str) -> None:
    _check_list(texts, what)
    for index, text in enumerate(texts):
        if not isinstance(text, str) or is_blank(text):
            shown = "empty" if isinstance(text, str) else f"{type(text).__name__}, expected str"
            raise DataError(f"{what} number {index}", f"is {shown}", "Leave it out.")


def _check_list(texts: object, what: str) -> None:
    if isinstance(texts, str):
        raise DataError(what, "one string came, expected a list of strings", 'Write predictor(["..."]).')
    # Texts are counted and read twice: what gives them once only would be empty the second time.
    is_list = hasattr(texts, "__len__") and hasattr(texts, "__getitem__")
    if not is_list or isinstance(texts, (bytes, Mapping)):
        raise DataError(what, f"{type(texts).__name__} came, expected a list of strings", "Write predictor(list(...)).")
