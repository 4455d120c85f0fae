"""Classification as the jobs see it: everything that is not the same for every kind of problem."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ernie_pp.choices import RowKind
from ernie_pp.config import RunConfig
from ernie_pp.data.faults import Faults
from ernie_pp.data.labels import LabelSet
from ernie_pp.data.rows import Row
from ernie_pp.data.split import Split
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import ConfigError
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.losses import ClassificationLoss, build_loss
from ernie_pp.report import Mistake
from ernie_pp.tasks.cls import features
from ernie_pp.tasks.cls.baseline import NAME, count_rows, fit_baseline
from ernie_pp.tasks.cls.decode import (
    DecodeSettings,
    Prediction,
    choose_labels,
    condense,
    decode,
    probabilities,
    tune_thresholds,
)
from ernie_pp.tasks.cls.example import Columns, Example, keep_known_labels, read_examples
from ernie_pp.tasks.cls.metric import Evaluation, headline_metric, measure, metric_names
from ernie_pp.tasks.cls.report import label_lines, list_mistakes, report_sections
from ernie_pp.tasks.interface import ReportSections
from ernie_pp.text.encoding import EncodedRows
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.text.truncation import TooLong

LOG = logging.getLogger("ernie_pp")


class Task:
    """One run's classification: its settings and, once the training rows were read, its labels."""

    row_kind: RowKind = "rows"

    def __init__(self, config: RunConfig, labels: LabelSet | None = None) -> None:
        self.config = config
        data = config.data
        self.columns = Columns(data.text, data.text_pair, data.label, config.cls.multi_label, data.label_separator)
        self._labels = labels or (LabelSet.from_config(config.labels) if config.labels is not None else None)

    @classmethod
    def restore(cls, config: RunConfig, settings: Mapping[str, Any]) -> Task:
        """The task of a model folder: its labels are those the model was trained on."""
        return cls(config, LabelSet(tuple(settings["label_values"]), tuple(settings["decode"]["labels"])))

    def stored_settings(self) -> dict[str, object]:
        """What `restore` needs, beside the decision rule."""
        return {"label_values": list(self.labels.values)}

    @property
    def labels(self) -> LabelSet:
        """The labels, in order; known from the config or from the training rows."""
        assert self._labels is not None, "settle_labels comes first"
        return self._labels

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels as they are shown, in the order of the model's outputs."""
        return self.labels.names

    @staticmethod
    def head_for(config: RunConfig, *, num_labels: int) -> HeadSpec:
        """A classifier over the pooler."""
        return HeadSpec("classification", num_labels)

    @property
    def head_spec(self) -> HeadSpec:
        """One output a label."""
        return self.head_for(self.config, num_labels=len(self.labels))

    @property
    def output_names(self) -> tuple[str, ...]:
        """The labels."""
        return self.label_names

    @property
    def column_names(self) -> tuple[str, ...]:
        """The fields every row must have."""
        return (*self.text_columns, self.config.data.label)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The field of the text, and of the second text of a pair."""
        data = self.config.data
        return (data.text,) if data.text_pair is None else (data.text, data.text_pair)

    def best_metric(self) -> str:
        """The name of the dev figure the best checkpoint is chosen by; ConfigError where there is no such figure."""
        multi_label, name = self.config.cls.multi_label, self.config.train.best_metric
        if name == "auto":
            return headline_metric(multi_label=multi_label)
        known = metric_names(multi_label=multi_label)
        if name not in known:
            raise ConfigError("train.best_metric", f"is {name!r}, expected auto or one of {', '.join(known)}")
        return name

    def read(self, rows: Iterable[Row], faults: Faults) -> list[Example]:
        """The sound examples of a split, in order; their labels are not compared with the run's yet."""
        return list(read_examples(rows, self.columns, faults))

    def settle_labels(self, train: Sequence[Example]) -> None:
        """Take the labels from the training examples, where the config names none."""
        if self._labels is None:
            values = (label for example in train for label in example.labels or ())
            self._labels = LabelSet.from_data(values, least=1 if self.config.cls.multi_label else 2)
            self._warn_of_unsplit_labels()

    def _warn_of_unsplit_labels(self) -> None:
        """Say where multi-label values look like several labels in one field, which nothing splits."""
        if not self.config.cls.multi_label or self.config.data.label_separator is not None:
            return
        for separator in "|,;，；、":
            joined = [value for value in self.labels.values if separator in value]
            if joined:
                advice = f'set data.label_separator: "{separator}" if they are several labels'
                LOG.warning('labels such as "%s" hold "%s" and are taken whole; %s', joined[0], separator, advice)
                return

    def group_of(self, example: Example) -> str:
        """Its text, or both texts of a pair."""
        return example.joined_text

    def keep_known(self, examples: Sequence[Example], faults: Faults) -> list[Example]:
        """The examples that have the run's labels only; each other one becomes a fault."""
        return list(keep_known_labels(examples, self.labels, faults, self.config.data.label))

    def augment(self, examples: Sequence[Example]) -> Sequence[Example]:
        """The examples as they are."""
        return examples

    def texts(self, examples: Sequence[Example]) -> tuple[list[str], list[str] | None]:
        """(texts, second texts) of examples; None where rows have one text."""
        pairs = [example.text_pair or "" for example in examples] if self.columns.text_pair is not None else None
        return [example.text for example in examples], pairs

    def labels_of(self, example: Example) -> Sequence[str]:
        """The labels an example's file gives it."""
        return example.labels or ()

    def encode(self, examples: Sequence[Example], tokenizer: Tokenizer, *, is_training: bool) -> EncodedRows:
        """The tokens of examples, cut to `text.max_length`."""
        return features.encode(*self.texts(examples), tokenizer, self.config.text.model_dump())

    def kept_whole(self, examples: Sequence[Example]) -> None:
        """Labels have no part in how a text is cut."""
        return

    def too_long(self, examples: Sequence[Example], tokenizer: Tokenizer) -> list[TooLong]:
        """The texts over the limit, where `text.truncate` is error."""
        return features.too_long(*self.texts(examples), tokenizer, self.config.text.model_dump())

    def inexpressible(self, examples: Sequence[Example], rows: TokenRows) -> list[str]:
        """A row has its label, whatever is cut off its text."""
        return []

    def targets(self, examples: Sequence[Example], rows: TokenRows | None = None) -> np.ndarray:
        """What the model has to learn of examples, each of which is one row."""
        return features.build_targets(examples, self.labels, multi_label=self.config.cls.multi_label)

    def build_loss(self, targets: Any) -> ClassificationLoss:
        """The loss; balanced class weights come from the training targets."""
        return build_loss(self.config.cls, label_weights=self._label_weights(targets))

    def settle_decoding(self, answers: Sequence[np.ndarray], split: Split) -> DecodeSettings:
        """The decision rule; thresholds are tuned on these (dev) rows where the config says so."""
        cls, names = self.config.cls, self.labels.names
        if isinstance(cls.threshold, str):
            true = self._true_labels(split)
            table = probabilities(np.stack(answers), multi_label=True)
            thresholds = tune_thresholds(table, true, per_label=cls.threshold == "tuned_per_label")
        else:
            thresholds = (cls.threshold,) * len(names)
        return DecodeSettings(names, cls.multi_label, thresholds)

    def measure(self, answers: Sequence[np.ndarray], split: Split, decoding: DecodeSettings) -> Evaluation:
        """All figures of the answers against the rows' labels."""
        return self._measure(choose_labels(np.stack(answers), decoding), self._true_labels(split), decoding)

    def _true_labels(self, split: Split) -> np.ndarray:
        assert isinstance(split.targets, np.ndarray), "rows have one target each"
        return features.true_labels(split.targets, len(self.labels))

    def _measure(self, chosen: np.ndarray, true: np.ndarray, settings: DecodeSettings) -> Evaluation:
        return measure(
            chosen,
            true,
            settings.labels,
            multi_label=settings.multi_label,
            headline=self.best_metric(),
            seed=self.config.seed,
        )

    def measure_baselines(
        self, train: Sequence[Example], dev: Split, decoding: DecodeSettings
    ) -> dict[str, Evaluation]:
        """Dev figures of the plain method on the same rows; nothing where the config leaves it out."""
        cls, num_labels = self.config.cls, len(self.labels)
        if not cls.baseline:
            return {}
        true, dev_true = (features.true_labels(self.targets(rows), num_labels) for rows in (train, dev.examples))
        texts, dev_texts = ([example.joined_text for example in rows] for rows in (train, dev.examples))
        chosen = fit_baseline(texts, true, dev_texts, multi_label=cls.multi_label, seed=self.config.seed)
        return {"baseline": self._measure(chosen, dev_true, decoding)}

    def describe(self, example: Example, prediction: Any) -> dict[str, object]:
        """One line of predictions.jsonl: the row, its true labels, what it was given."""
        true = [
            self.labels.names[index]
            for label in example.labels or ()
            if (index := self.labels.index_of(label)) is not None
        ]
        pair = {} if example.text_pair is None else {"text_pair": example.text_pair}
        label: object = true if self.config.cls.multi_label else true[0]
        place = {"file": example.place.path, "line": example.place.line}
        given = prediction.to_fields()
        return {**place, "text": example.text, **pair, "label": label, **given}

    def summarize(self, evaluation: Evaluation) -> list[str]:
        """Figures by label, as lines of text."""
        return label_lines(evaluation)

    def report_sections(self, evaluation: Evaluation, decoding: DecodeSettings) -> ReportSections:
        """Figures by label, and the confusion of labels."""
        return report_sections(evaluation, decoding.labels)

    def mistakes(
        self, answers: Sequence[np.ndarray], split: Split, decoding: DecodeSettings, *, limit: int
    ) -> list[Mistake]:
        """Wrongly answered rows, surest first."""
        return list_mistakes(split.examples, np.stack(answers), self._true_labels(split), decoding, limit=limit)

    def notes(self, *, num_train_rows: int) -> list[str]:
        """What a reader of the report should know about how the figures came about."""
        cls, notes = self.config.cls, []
        if cls.baseline:
            used = count_rows(num_train_rows, num_labels=len(self.labels))
            rows = "the same training rows" if used == num_train_rows else f"{used} of {num_train_rows} training rows"
            notes.append(f"baseline: {NAME} on {rows}, measured on dev; no pretraining")
        if isinstance(cls.threshold, str):
            notes.append(f"cls.threshold: {cls.threshold} on these dev rows, so dev figures flatter the model a little")
        return notes

    def condense(self, logits: np.ndarray, rows: TokenRows) -> Sequence[np.ndarray]:
        """The logits of each row."""
        return condense(logits, rows)

    def decode(self, answers: Sequence[np.ndarray], split: Split, decoding: DecodeSettings) -> list[Prediction]:
        """One prediction a row, which is an example."""
        return decode(answers, split.rows, [example.text for example in split.examples], decoding)

    def _label_weights(self, targets: np.ndarray) -> np.ndarray | None:
        weights = self.config.cls.class_weights
        if weights == "none":
            return None
        if isinstance(weights, tuple):
            return np.array(weights, dtype=np.float64)
        counts = features.true_labels(targets, len(self.labels)).sum(axis=0)
        # n / (labels x count), as scikit-learn's "balanced"; a label without a row weighs as if it had one.
        return len(targets) / (len(self.labels) * np.maximum(counts, 1))
