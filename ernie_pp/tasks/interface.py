"""What a kind of problem offers the jobs: each `tasks/<kind>/task.py` has a class `Task` that keeps to this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ernie_pp.choices import RowKind
from ernie_pp.config import RunConfig
from ernie_pp.data.faults import Faults
from ernie_pp.data.row_targets import RowTargets
from ernie_pp.data.rows import Place, Row
from ernie_pp.data.split import Split
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.losses import Loss
from ernie_pp.report import Confusion, Mistake, Table
from ernie_pp.text.encoding import EncodedRows
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.text.truncation import TooLong


class Example(Protocol):
    """A sound row. What else it holds is the kind's own."""

    @property
    def place(self) -> Place: ...
    @property
    def text(self) -> str: ...


class Decoding(Protocol):
    """The rule from logits to predictions; travels in model folders and bundles."""

    def to_json(self) -> dict: ...


class Evaluation(Protocol):
    """Figures of one split: `headline` is the name in `values` that people look for, `interval` its 95 % interval."""

    @property
    def num_rows(self) -> int: ...
    @property
    def values(self) -> Mapping[str, float]: ...
    @property
    def headline(self) -> str: ...
    @property
    def interval(self) -> tuple[float, float]: ...
    def to_json(self) -> dict: ...


@dataclass(frozen=True)
class ReportSections:
    """A kind's own part of the report: its tables, and its confusion of labels where it has one."""

    tables: Sequence[Table]
    confusion: Confusion | None = None


class Task(Protocol):
    """One run's problem: its settings and, once they are settled, its labels.

    An example becomes one row of tokens or several windows; the model's output for a row is condensed to an answer at
    once; the answers of all rows of an example are decoded to one prediction.
    """

    @property
    def row_kind(self) -> RowKind:
        """What files hold: rows of named fields, or entities, or questions, in any of their formats."""
        ...

    @property
    def column_names(self) -> tuple[str, ...]:
        """The fields every row must have."""
        ...

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The fields that hold the text, or both texts of a pair."""
        ...

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels as they are shown, in their order."""
        ...

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the head's outputs, for PaddleNLP: the labels, or their tags."""
        ...

    @property
    def head_spec(self) -> HeadSpec:
        """The head over the encoder."""
        ...

    def best_metric(self) -> str:
        """The name of the dev figure the best checkpoint is chosen by; ConfigError where there is no such figure."""
        ...

    def read(self, rows: Iterable[Row], faults: Faults) -> Sequence[Any]:
        """The sound examples of a split, in order; their labels are not compared with the run's yet."""
        ...

    def settle_labels(self, train: Sequence[Any]) -> None:
        """Take the labels the settings leave open from the training examples; what follows needs them."""
        ...

    def group_of(self, example: Any) -> str:
        """What must not stand in two splits: the example's text, or the document it is about."""
        ...

    def keep_known(self, examples: Sequence[Any], faults: Faults) -> Sequence[Any]:
        """The examples that have the run's labels only; each other one becomes a fault."""
        ...

    def augment(self, examples: Sequence[Any]) -> Sequence[Any]:
        """The training examples, and those that are made of them where the config says so."""
        ...

    def texts(self, examples: Sequence[Any]) -> tuple[list[str], list[str] | None]:
        """(texts, second texts) of examples; None where rows have one text."""
        ...

    def labels_of(self, example: Any) -> Sequence[str]:
        """The labels an example's file gives it, for statistics."""
        ...

    def encode(self, examples: Sequence[Any], tokenizer: Tokenizer, *, is_training: bool) -> EncodedRows:
        """The tokens of examples, at most `text.max_length` a row.

        In training the true answers may say where windows are cut; elsewhere the text alone does.
        """
        ...

    def kept_whole(self, examples: Sequence[Any]) -> object:
        """What of the true answers `encode` looks at in training, as JSON values."""
        ...

    def too_long(self, examples: Sequence[Any], tokenizer: Tokenizer) -> Sequence[TooLong]:
        """The examples with a text that may not be cut and is longer than `text.max_length` allows."""
        ...

    def inexpressible(self, examples: Sequence[Any], rows: TokenRows) -> list[str]:
        """What of the true answers no row can express, one line a kind."""
        ...

    def targets(self, examples: Sequence[Any], rows: TokenRows) -> np.ndarray | RowTargets:
        """What the model has to learn, one entry a row."""
        ...

    def build_loss(self, targets: np.ndarray | RowTargets) -> Loss:
        """The loss of these training targets."""
        ...

    def condense(self, logits: np.ndarray, rows: TokenRows) -> Sequence[Any]:
        """Of logits [rows, ...] what decides each row's answer; `rows` are their tokens, in the same order."""
        ...

    def settle_decoding(self, answers: Sequence[Any], split: Split) -> Any:
        """The Decoding, tuned on these (dev) rows where the config says so."""
        ...

    def measure(self, answers: Sequence[Any], split: Split, decoding: Any) -> Evaluation:
        """All figures of the answers, one a row, against what is true."""
        ...

    def measure_baselines(self, train: Sequence[Any], dev: Split, decoding: Any) -> Mapping[str, Evaluation]:
        """Dev figures of plain methods on the same rows, by the names they have in metrics.json."""
        ...

    def decode(self, answers: Sequence[Any], split: Split, decoding: Any) -> Sequence[Any]:
        """One prediction an example."""
        ...

    def describe(self, example: Any, prediction: Any) -> dict[str, object]:
        """One line of predictions.jsonl."""
        ...

    def summarize(self, evaluation: Any) -> list[str]:
        """The lines `ernie-pp evaluate` prints below the figures."""
        ...

    def report_sections(self, evaluation: Any, decoding: Any) -> ReportSections:
        """The kind's own part of the report."""
        ...

    def mistakes(self, answers: Sequence[Any], split: Split, decoding: Any, *, limit: int) -> list[Mistake]:
        """Wrongly answered examples, surest first."""
        ...

    def notes(self, *, num_train_rows: int) -> list[str]:
        """What a reader of the report should know about how the figures came about."""
        ...

    def stored_settings(self) -> dict[str, object]:
        """What a model folder has to say so that `restore` gives this task again."""
        ...


class TaskClass(Protocol):
    """How the jobs come to a task."""

    def __call__(self, config: RunConfig) -> Task: ...

    def head_for(self, config: RunConfig, *, num_labels: int) -> HeadSpec:
        """The head of a model for so many labels, before any rows are read."""
        ...

    def restore(self, config: RunConfig, settings: Mapping[str, Any]) -> Task:
        """The task of a model folder, labels settled; `settings` hold `stored_settings()` and "decode"."""
        ...
