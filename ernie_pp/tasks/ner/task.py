"""Named entities as the jobs see them: everything that is not the same for every kind of problem."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ernie_pp.choices import RowKind
from ernie_pp.config import RunConfig
from ernie_pp.data.entities.document import Document, Entity, Mention
from ernie_pp.data.entities.findings import entity_findings
from ernie_pp.data.entities.reading import EntityOptions, read_documents
from ernie_pp.data.faults import Faults
from ernie_pp.data.labels import LabelSet
from ernie_pp.data.row_targets import RowTargets
from ernie_pp.data.rows import Row
from ernie_pp.data.split import Split
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.errors import ConfigError
from ernie_pp.models.entity_losses import build_entity_loss
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.losses import Loss
from ernie_pp.report import Mistake
from ernie_pp.tasks.interface import ReportSections
from ernie_pp.tasks.ner import baseline, features
from ernie_pp.tasks.ner.decode import DecodeSettings, Prediction, condense, decode
from ernie_pp.tasks.ner.example import find_overlaps, keep_known_types, keep_labelled, overlap_fault, without
from ernie_pp.tasks.ner.metric import Evaluation, headline_metric, measure, metric_names
from ernie_pp.tasks.ner.report import list_mistakes, report_sections, type_lines
from ernie_pp.tasks.ner.rules import load_rules
from ernie_pp.tasks.ner.scheme import TagSet
from ernie_pp.tasks.ner.spans import RowSpans
from ernie_pp.tasks.ner.swapping import with_swapped_copies
from ernie_pp.tasks.ner.thresholds import tune_thresholds
from ernie_pp.text.encoding import EncodedRows
from ernie_pp.text.tokenizer import Tokenizer
from ernie_pp.text.truncation import TooLong

LOG = logging.getLogger("ernie_pp")
MOST_NAMED = 5


class Task:
    """One run's entities: its settings and, once the training documents were read, its types."""

    row_kind: RowKind = "entities"

    def __init__(self, config: RunConfig, labels: LabelSet | None = None) -> None:
        self.config, self._is_nested = config, False
        self._labels = labels or (LabelSet.from_config(config.labels) if config.labels is not None else None)

    @classmethod
    def restore(cls, config: RunConfig, settings: Mapping[str, Any]) -> Task:
        """The task of a model folder: its types are those the model was trained on."""
        return cls(config, LabelSet(tuple(settings["label_values"]), tuple(settings["decode"]["labels"])))

    def stored_settings(self) -> dict[str, object]:
        """What `restore` and a review need, beside the decision rule."""
        review = self.config.review.model_dump(mode="json")
        return {"label_values": list(self.labels.values), "review": review}

    @property
    def labels(self) -> LabelSet:
        """The types, in order; known from the config or from the training documents."""
        assert self._labels is not None, "settle_labels comes first"
        return self._labels

    @property
    def label_names(self) -> tuple[str, ...]:
        """The types as they are shown, in their order."""
        return self.labels.names

    @property
    def output_names(self) -> tuple[str, ...]:
        """The tags of a token head, or the types."""
        return self.labels.names if self._is_pointer else self._tags.names

    @staticmethod
    def head_for(config: RunConfig, *, num_labels: int) -> HeadSpec:
        """The head that `ner.head` names, for so many types."""
        ner = config.ner
        if ner.head == "global_pointer":
            return HeadSpec(ner.head, num_labels, ner.pointer_size)
        supposed = tuple(map(str, range(num_labels)))
        return HeadSpec(ner.head, len(TagSet(supposed, ner.scheme).names))

    @property
    def head_spec(self) -> HeadSpec:
        """One output a tag, or one a type."""
        return self.head_for(self.config, num_labels=len(self.labels))

    @property
    def column_names(self) -> tuple[str, ...]:
        """None must be there: every format has its own."""
        return ()

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The field of the text."""
        return (self.config.data.text,)

    def best_metric(self) -> str:
        """The name of the dev figure the best checkpoint is chosen by; ConfigError where there is no such figure."""
        name = self.config.train.best_metric
        if name == "auto":
            return headline_metric()
        if name not in metric_names():
            raise ConfigError("train.best_metric", f"is {name!r}, expected auto or one of {', '.join(metric_names())}")
        return name

    def read(self, rows: Iterable[Row], faults: Faults) -> list[Document]:
        """The sound documents of a split, in order; their types are not compared with the run's yet."""
        ner, findings = self.config.ner, entity_findings()
        options = EntityOptions(self.config.data.dialect, self.config.data.text, ner.illegal_tags, ner.repair_offsets)
        documents = read_documents(rows, options=options, faults=faults, findings=findings)
        for line in findings.lines():
            LOG.warning("%s", line)
        return list(keep_labelled(documents, faults, text=self.config.data.text))

    def settle_labels(self, train: Sequence[Document]) -> None:
        """Take the types from the training documents, where the config names none, and whether entities overlap."""
        if self._labels is None:
            values = (entity.label for document in train for entity in document.entities or ())
            self._labels = LabelSet.from_data(values, least=1)
        # Where no entity overlaps another, none that is predicted may.
        self._is_nested = self._is_pointer and any(map(find_overlaps, train))
        load_rules(self.config.ner.rules, self.labels.names)
        self._check_fields()

    def _check_fields(self) -> None:
        for field in self.config.review.fields:
            for label in field.labels:
                if label not in self.labels.names:
                    what = f"is about {label!r}, which is none of {', '.join(self.labels.names[:10])}"
                    raise ConfigError(f"review.fields {field.name!r}", what, "Name a type that the run has.")

    def group_of(self, example: Document) -> str:
        """Its text."""
        return example.text

    def keep_known(self, examples: Sequence[Document], faults: Faults) -> list[Document]:
        """The documents that have the run's types only, and no overlaps that the head cannot have."""
        known = list(keep_known_types(examples, self.labels, faults))
        return known if self._is_pointer else self._flat(known, faults)

    def augment(self, examples: Sequence[Document]) -> list[Document]:
        """The documents, with their copies of other entities."""
        return with_swapped_copies(examples, self.config.ner.swapped_copies, seed=self.config.seed)

    def texts(self, examples: Sequence[Document]) -> tuple[list[str], None]:
        """(texts, no second texts)."""
        return [example.text for example in examples], None

    def labels_of(self, example: Document) -> Sequence[str]:
        """The types of an example's entities."""
        return [entity.label for entity in example.entities or ()]

    def encode(self, examples: Sequence[Document], tokenizer: Tokenizer, *, is_training: bool) -> EncodedRows:
        """Windows of the texts; in training an entity that fits into a window stands whole in one."""
        text = self.config.text
        keep = self.kept_whole(examples) if is_training else None
        return features.encode(*self.texts(examples), tokenizer, text.settled(), keep)

    def kept_whole(self, examples: Sequence[Document]) -> list[list[tuple[int, int]]]:
        """Places of the entities."""
        return [[(entity.start, entity.end) for entity in example.entities or ()] for example in examples]

    def too_long(self, examples: Sequence[Document], tokenizer: Tokenizer) -> list[TooLong]:
        """None: a long text is read in windows."""
        return features.too_long(*self.texts(examples), tokenizer, self.config.text.model_dump())

    def inexpressible(self, examples: Sequence[Document], rows: TokenRows) -> list[str]:
        """How many entities stand whole in no window, and which they are."""
        lost = features.inexpressible(rows, examples)
        if not lost:
            return []
        total = sum(len(example.entities or ()) for example in examples)
        named = "; ".join(
            f"{document.place} {e.label} {document.text[e.start : e.end]}" for document, e in lost[:MOST_NAMED]
        )
        more = f"; and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
        why = "their borders are inside a token, or no window holds them whole"
        return [f"{len(lost)} of {total} entities cannot be found, {why}: {named}{more}"]

    def targets(self, examples: Sequence[Document], rows: TokenRows) -> RowTargets:
        """Tags of the tokens, or the spans of each row."""
        if self._is_pointer:
            return features.span_targets(rows, examples, self.labels.names)
        return features.tag_targets(rows, examples, self._tags)

    def build_loss(self, targets: Any) -> Loss:
        """The head's own."""
        return build_entity_loss(self.head_spec)

    def condense(self, logits: np.ndarray, rows: TokenRows) -> list[RowSpans]:
        """The spans of each row."""
        return condense(logits, rows, self._plain_decoding())

    def settle_decoding(self, answers: Sequence[RowSpans], split: Split) -> DecodeSettings:
        """The decision rule; global_pointer's thresholds are tuned on these (dev) documents where the config says."""
        plain, threshold = self._plain_decoding(), self.config.ner.threshold
        if not self._is_pointer:
            return self._with_rules(plain)
        if not isinstance(threshold, str):
            return self._with_rules(plain, (threshold,) * len(self.labels))
        return self._with_rules(plain, tune_thresholds(answers, split, plain))

    def measure(self, answers: Sequence[RowSpans], split: Split, decoding: DecodeSettings) -> Evaluation:
        """All figures of the answers against the documents' entities."""
        return self._measure(split.examples, self._mentions(answers, split, decoding))

    def measure_baselines(
        self, train: Sequence[Document], dev: Split, decoding: DecodeSettings
    ) -> dict[str, Evaluation]:
        """Dev figures of the training entities' longest match; nothing where the config leaves it out."""
        if not self.config.ner.baseline:
            return {}
        found = baseline.find_entities(baseline.fit_dictionary(train), self.texts(dev.examples)[0])
        return {"baseline": self._measure(dev.examples, found)}

    def decode(self, answers: Sequence[RowSpans], split: Split, decoding: DecodeSettings) -> list[Prediction]:
        """One prediction a document."""
        return decode(answers, split.rows, self.texts(split.examples)[0], decoding)

    def describe(self, example: Document, prediction: Prediction) -> dict[str, object]:
        """One line of predictions.jsonl: the document, its true entities, what was found."""
        place = {"file": example.place.path, "line": example.place.line}
        true = [
            {"start": one.start, "end": one.end, "label": one.label, "text": example.text[one.start : one.end]}
            for one in example.entities or ()
        ]
        return {**place, "text": example.text, "true_entities": true, **prediction.to_fields()}

    def summarize(self, evaluation: Evaluation) -> list[str]:
        """Figures by type, by length, and kinds of mistakes, as lines of text."""
        return type_lines(evaluation)

    def report_sections(self, evaluation: Evaluation, decoding: DecodeSettings) -> ReportSections:
        """Figures by type, by length, and kinds of mistakes."""
        return report_sections(evaluation)

    def mistakes(
        self, answers: Sequence[RowSpans], split: Split, decoding: DecodeSettings, *, limit: int
    ) -> list[Mistake]:
        """Wrong and missed entities, surest first."""
        return list_mistakes(split.examples, self._mentions(answers, split, decoding), limit=limit)

    def notes(self, *, num_train_rows: int) -> list[str]:
        """What a reader of the report should know about how the figures came about."""
        ner, notes = self.config.ner, []
        if ner.baseline:
            notes.append(f"baseline: {baseline.NAME}, measured on dev")
        if self._is_pointer and isinstance(ner.threshold, str):
            notes.append(
                "ner.threshold: tuned on these dev rows for each type, so dev figures flatter the model a little"
            )
        return notes

    @property
    def _is_pointer(self) -> bool:
        return self.config.ner.head == "global_pointer"

    @property
    def _tags(self) -> TagSet:
        return TagSet(self.labels.names, self.config.ner.scheme)

    def _flat(self, documents: Sequence[Document], faults: Faults) -> list[Document]:
        overlaps = {index: found for index, one in enumerate(documents) if (found := find_overlaps(one))}
        if not overlaps:
            return list(documents)
        if self.config.ner.overlaps == "error":
            for found in overlaps.values():
                faults.add(overlap_fault(found[0]))
            return [document for index, document in enumerate(documents) if index not in overlaps]
        count, first = sum(map(len, overlaps.values())), next(iter(overlaps.values()))[0]
        LOG.warning(
            "%s: %d entities overlap a longer one and are left out (ner.overlaps: longest), the first: %s",
            first.document.place.path,
            count,
            overlap_fault(first).value,
        )
        return [without(document, overlaps.get(index, ())) for index, document in enumerate(documents)]

    def _plain_decoding(self) -> DecodeSettings:
        """How rows are condensed: no thresholds, no rules, and the transitions that come with the emissions."""
        ner = self.config.ner
        thresholds = (0.0,) * len(self.labels) if self._is_pointer else ()
        return DecodeSettings(self.labels.names, ner.head, ner.scheme, thresholds, self._is_nested)

    def _with_rules(self, plain: DecodeSettings, thresholds: tuple[float, ...] = ()) -> DecodeSettings:
        rules = load_rules(self.config.ner.rules, self.labels.names)
        return DecodeSettings(plain.labels, plain.head, plain.scheme, thresholds, plain.is_nested, rules)

    def _mentions(
        self, answers: Sequence[RowSpans], split: Split, decoding: DecodeSettings
    ) -> list[tuple[Mention, ...]]:
        return [prediction.mentions for prediction in self.decode(answers, split, decoding)]

    def _measure(self, documents: Sequence[Document], given: Sequence[Sequence[Entity]]) -> Evaluation:
        gold = [document.entities or () for document in documents]
        return measure(gold, given, self.labels.names, headline=self.best_metric(), seed=self.config.seed)
